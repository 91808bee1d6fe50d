#pragma once

#include <cstdint>

#include "penstock/core/parallel.h"

namespace penstock::kernels {

// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta along each of `rows` rows of n elements,
// with the row's own mean and variance. `y` may be `x`. REQUIRES: n > 0.
void LayerNorm(const float* x, int64_t rows, int64_t n, const float* gamma, const float* beta,
               float epsilon, float* y, const ParallelFor& each);

}  // namespace penstock::kernels
