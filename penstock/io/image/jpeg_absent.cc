#include "penstock/io/image/jpeg.h"

namespace penstock::io {
namespace {

Status Absent() {
  return Unimplemented("built without libjpeg: install libjpeg-dev and configure again");
}

}  // namespace

Status DecodeJpeg(std::string_view, const JpegDecodeOptions&, PixelMemory) { return Absent(); }
Result<ImageExtent> ReadJpegExtent(std::string_view) { return Absent(); }
Result<std::string> EncodeJpeg(const uint8_t*, const ImageExtent&, const JpegEncodeOptions&) {
  return Absent();
}

}  // namespace penstock::io
