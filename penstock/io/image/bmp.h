#pragma once

#include <string_view>

#include "penstock/core/status.h"
#include "penstock/io/image/pixels.h"

// BMP files: a header of which four fields count, then rows of 8, 24 or 32 bits a pixel, each row
// a multiple of four bytes long, the last row of the image first unless the height is negative.
//   10  int32  where the rows begin
//   18  int32  width
//   22  int32  height
//   28  int16  bits a pixel

namespace penstock::io {

// `channels` are 3, 4, or 0 for those of the file.
Status DecodeBmp(std::string_view bytes, int channels, int64_t max_samples, PixelMemory memory);

}  // namespace penstock::io
