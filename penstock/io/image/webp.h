#pragma once

#include <string_view>

#include "penstock/core/status.h"
#include "penstock/io/image/pixels.h"

// WebP files through libwebp. Built without it, decoding is Unimplemented and names the package.

namespace penstock::io {

// All frames, or the first. `channels` are 3, 4, or 0 for those of the file, which they must be: 4
// of an animation and where there is transparency, else 3.
Status DecodeWebP(std::string_view bytes, int channels, bool all_frames, int64_t max_samples,
                  PixelMemory memory);

}  // namespace penstock::io
