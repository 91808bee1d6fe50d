// Bytes as a JPEG file: an error, or pixels in memory of the size that was asked for, whatever the
// options.

#include <cstdint>
#include <string_view>
#include <vector>

#include "penstock/io/image/jpeg.h"

namespace penstock::io {
namespace {

void Check(std::string_view bytes) {
  JpegDecodeOptions whole;
  whole.max_samples = 1 << 20;
  JpegDecodeOptions recovered = whole;
  recovered.recover_truncated = true;
  recovered.accurate = true;
  recovered.fancy_upscaling = false;
  recovered.ratio = 2;
  JpegDecodeOptions grey = whole;
  grey.channels = 1;
  grey.acceptable_fraction = 0;
  JpegDecodeOptions cropped = whole;
  cropped.crop = JpegCrop{3, 5, 4, 6};
  for (const JpegDecodeOptions& options : {whole, recovered, grey, cropped}) {
    std::vector<uint8_t> pixels;
    (void)DecodeJpeg(bytes, options, [&](const ImageExtent& extent) -> Result<uint8_t*> {
      pixels.resize(static_cast<size_t>(extent.height * extent.width * extent.channels));
      return pixels.data();
    });
  }
  (void)ReadJpegExtent(bytes);
}

}  // namespace
}  // namespace penstock::io

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  penstock::io::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
