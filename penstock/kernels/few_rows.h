#pragma once

#include <cstdint>

namespace penstock::kernels {

// C = A * B + bias, all row-major, on the calling thread; M rows, N columns, K inner. B is read
// where it lies: with few rows, packing it costs more than it gains.
// REQUIRES: N is a multiple of 16; C overlaps neither A nor B. bias: N elements, or null.
struct FewRowsProblem {
  int64_t M;
  int64_t N;
  int64_t K;
  const float* a;
  int64_t lda;
  const float* b;
  int64_t ldb;
  const float* bias;
  float* c;
  int64_t ldc;
};
void GemmFewRows(const FewRowsProblem& problem);

}  // namespace penstock::kernels
