#include "penstock/io/image/png.h"

namespace penstock::io {
namespace {

Status Absent() {
  return Unimplemented("built without libpng: install libpng-dev and configure again");
}

}  // namespace

Status DecodePng(std::string_view, const PngDecodeOptions&, PixelMemory) { return Absent(); }
Result<std::string> EncodePng(const void*, const ImageExtent&, int, int) { return Absent(); }

}  // namespace penstock::io
