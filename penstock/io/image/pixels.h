#pragma once

#include <cstdint>
#include <string_view>

#include "penstock/core/function_ref.h"
#include "penstock/core/status.h"

namespace penstock::io {

// The extent of an image: frames of rows of pixels of channels, each a sample.
struct ImageExtent {
  int64_t frames = 1;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
};

// Gives memory for the samples of an image, once a decoder knows its extent. The extent was checked
// against the decoder's limit.
using PixelMemory = FunctionRef<Result<uint8_t*>(const ImageExtent&)>;

// No image has more samples, whatever its header says: what stock TensorFlow decodes at most.
inline constexpr int64_t kMaxSamples = int64_t{1} << 29;

// InvalidArgument unless every extent is positive and there are at most `max_samples` samples.
Status CheckExtent(const ImageExtent& extent, int64_t max_samples, std::string_view format);

}  // namespace penstock::io
