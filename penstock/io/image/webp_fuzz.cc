// Bytes as a WebP file: an error, or pixels in memory of the size that was asked for.

#include <cstdint>
#include <string_view>
#include <vector>

#include "penstock/io/image/webp.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  std::vector<uint8_t> pixels;
  (void)io::DecodeWebP({reinterpret_cast<const char*>(data), size}, 0, true, 1 << 20,
                       [&](const io::ImageExtent& extent) -> Result<uint8_t*> {
                         pixels.resize(static_cast<size_t>(extent.frames * extent.height *
                                                           extent.width * extent.channels));
                         return pixels.data();
                       });
  return 0;
}
