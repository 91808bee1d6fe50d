#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/core/status.h"
#include "penstock/io/image/pixels.h"

// PNG files through libpng. Built without it, every function is Unimplemented and names the
// package.

namespace penstock::io {

struct PngDecodeOptions {
  int channels = 0;  // 1 to 4, or 0 for those of the file
  int bits = 8;      // of a sample, 8 or 16: the memory has as many bytes more
  int64_t max_samples = kMaxSamples;
};

Status DecodePng(std::string_view bytes, const PngDecodeOptions& options, PixelMemory memory);

// `samples` of 8 or 16 bits. compression is -1 (the library's default) to 9. REQUIRES: one frame of
// 1 to 4 channels.
Result<std::string> EncodePng(const void* samples, const ImageExtent& extent, int bits,
                              int compression);

}  // namespace penstock::io
