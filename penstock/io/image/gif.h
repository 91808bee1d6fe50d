#pragma once

#include <string_view>

#include "penstock/core/status.h"
#include "penstock/io/image/pixels.h"

// GIF files through giflib. Built without it, decoding is Unimplemented and names the package.

namespace penstock::io {

// All frames, or the first: RGB, each drawn over the one before, of the size of the largest.
Status DecodeGif(std::string_view bytes, bool all_frames, int64_t max_samples, PixelMemory memory);

}  // namespace penstock::io
