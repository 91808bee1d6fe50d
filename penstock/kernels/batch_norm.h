#pragma once

#include <cstdint>

#include "penstock/core/parallel.h"

namespace penstock::kernels {

// An array [outer, channels, inner] whose channels are normalised; inner is 1 where the channels
// come last.
struct ChannelShape {
  int64_t outer = 1;
  int64_t channels = 1;
  int64_t inner = 1;
  int64_t count() const { return outer * inner; }  // elements of one channel
};

// What batch normalisation does with arrays.
struct BatchNormKernels {
  // The mean of each channel and the mean square distance from it. REQUIRES: count() > 0.
  // `scratch` has room for ScratchSize(shape) floats; the order of summation does not depend on the
  // threads.
  void (*moments)(const ChannelShape& shape, const float* x, float* scratch, float* mean,
                  float* variance, const ParallelFor& each);
  // y = (x - mean) * factor + offset.
  void (*apply)(const ChannelShape& shape, const float* x, const float* mean, const float* factor,
                const float* offset, float* y, const ParallelFor& each);
  // The sums of dy and of dy * (x - mean) in each channel; `scratch` as above.
  void (*gradient_sums)(const ChannelShape& shape, const float* dy, const float* x,
                        const float* mean, float* scratch, float* sum, float* product,
                        const ParallelFor& each);
  // dx = factor * (dy - shift - (x - mean) * slope).
  void (*gradient)(const ChannelShape& shape, const float* dy, const float* x, const float* mean,
                   const float* factor, const float* shift, const float* slope, float* dx,
                   const ParallelFor& each);

  static int64_t ScratchSize(const ChannelShape& shape);
};

// For this machine's instruction set.
BatchNormKernels BatchNormFunctions();

}  // namespace penstock::kernels
