#pragma once

#include <cstdint>

#include "penstock/core/dtype.h"

namespace penstock::kernels {

// Softmax and its losses over rows of `classes` logits, on one thread, types erased; 16-bit types
// are computed in float.
struct SoftmaxKernels {
  // out = e^x / sum e^x along each of `rows` rows, or its logarithm. `out` may be `in`.
  void (*softmax)(const void* in, int64_t rows, int64_t classes, bool log, void* out);
  // One row's cross entropy of softmax(logits) with `labels`, a distribution, and its derivative by
  // the logits.
  void (*cross_entropy)(const void* logits, const void* labels, int64_t classes, void* loss,
                        void* backprop);
  // The same with all of the distribution at `label`. REQUIRES: 0 <= label < classes.
  void (*sparse_cross_entropy)(const void* logits, int64_t label, int64_t classes, void* loss,
                               void* backprop);

  // What a row costs in cycles.
  static double Cost(int64_t classes) { return 20.0 + 4.0 * static_cast<double>(classes); }
};

// Those of float, double, half or bfloat16 for this machine's instruction set; null for others.
SoftmaxKernels SoftmaxKernelsOf(DType dtype);

}  // namespace penstock::kernels
