// Bytes as a PNG file: an error, or pixels in memory of the size that was asked for.

#include <cstdint>
#include <string_view>
#include <vector>

#include "penstock/io/image/png.h"

namespace penstock::io {
namespace {

void Check(std::string_view bytes) {
  for (const PngDecodeOptions& options :
       {PngDecodeOptions{0, 8, 1 << 20}, PngDecodeOptions{0, 16, 1 << 20},
        PngDecodeOptions{1, 8, 1 << 20}, PngDecodeOptions{4, 16, 1 << 20}}) {
    std::vector<uint8_t> pixels;
    (void)DecodePng(bytes, options, [&](const ImageExtent& extent) -> Result<uint8_t*> {
      pixels.resize(
          static_cast<size_t>(extent.height * extent.width * extent.channels * options.bits / 8));
      return pixels.data();
    });
  }
}

}  // namespace
}  // namespace penstock::io

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  penstock::io::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
