#include "penstock/io/image/bmp.h"

#include "penstock/io/little_endian.h"

namespace penstock::io {
namespace {

// Blue, green, red and alpha, or grey, to the channels asked for.
void ConvertPixel(const uint8_t* from, int64_t has, uint8_t* to, int64_t wants) {
  if (has == 1) {
    to[0] = from[0];
    if (wants == 1) return;
    to[1] = to[2] = from[0];
  } else {
    to[0] = from[2];
    if (wants == 1) return;
    to[1] = from[1];
    to[2] = from[0];
  }
  if (wants == 4) to[3] = has == 4 ? from[3] : 255;
}

}  // namespace

Status DecodeBmp(std::string_view bytes, int channels, int64_t max_samples, PixelMemory memory) {
  constexpr size_t kHeader = 32;
  if (bytes.size() < kHeader)
    return InvalidArgument("BMP: the header takes {} bytes, got {}", kHeader, bytes.size());
  const auto number = [&](size_t at) {
    return static_cast<int64_t>(
        static_cast<int32_t>(LoadLittleEndian<uint32_t>(bytes.data() + at)));
  };
  const int64_t begin = number(10), width = number(18), height = number(22);
  const int64_t has = static_cast<int16_t>(LoadLittleEndian<uint16_t>(bytes.data() + 28)) / 8;
  if (has != 1 && has != 3 && has != 4)
    return InvalidArgument("BMP: pixels have 1, 3 or 4 channels, got {}", has);
  const ImageExtent extent{1, height < 0 ? -height : height, width, channels == 0 ? has : channels};
  TRY(CheckExtent({1, extent.height, extent.width, 4}, max_samples, "BMP"));
  const int64_t row_bytes = (has * width + 3) / 4 * 4;
  const int64_t size = static_cast<int64_t>(bytes.size());
  if (begin < 0 || begin > size || size - begin != row_bytes * extent.height) {
    return InvalidArgument("BMP: {} rows of {} bytes must follow a header of {}, got {} bytes",
                           extent.height, row_bytes, begin, size);
  }
  TRY_ASSIGN(uint8_t * pixels, memory(extent));
  const auto* rows = reinterpret_cast<const uint8_t*>(bytes.data()) + begin;
  for (int64_t y = 0; y < extent.height; ++y) {
    const uint8_t* row = rows + (height < 0 ? y : extent.height - 1 - y) * row_bytes;
    for (int64_t x = 0; x < width; ++x, pixels += extent.channels)
      ConvertPixel(row + x * has, has, pixels, extent.channels);
  }
  return OkStatus();
}

}  // namespace penstock::io
