#pragma once

#include <cstdint>

#include "penstock/core/function_ref.h"
#include "penstock/core/parallel.h"

namespace penstock::kernels {

// C = op(A) * op(B) + beta * C, all row-major; op() transposes when its flag says so.
//   M rows of C and of op(A), N columns of C and of op(B), K columns of op(A) and rows of op(B).
//   A is stored [M, K] (transposed: [K, M]) with lda elements from row to row; B and C likewise.
// C is not read when beta is 0, and is beta * C when K is 0. 16-bit types are summed in float and
// rounded once, integers wrap. The result depends on the operands and the instruction set, never on
// the number of threads. PENSTOCK_VERBOSE_KERNELS=1 prints to stderr which implementation ran and
// why those before it did not. REQUIRES: C overlaps neither A nor B. T: float, double, half,
// bfloat16, int32_t, int64_t, complex64, complex128.
template <class T>
void Gemm(bool transpose_a, bool transpose_b, int64_t M, int64_t N, int64_t K, const T* a,
          int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc, double beta,
          const ParallelFor& each);

// The operands of `count` products of one shape: product i reads A at a + a_offsets[i] and B at b +
// b_offsets[i], and writes C at c + i * c_stride, all in elements. Offsets may repeat, as they do
// when a batch dimension is broadcast.
struct GemmBatch {
  int64_t count = 0;
  const int64_t* a_offsets = nullptr;
  const int64_t* b_offsets = nullptr;
  int64_t c_stride = 0;
};

// Called with each block of a product as soon as it is computed, while it is in the cache: `block`
// is its first element, of row `row` and column `column` of C.
template <class T>
using GemmFinish =
    FunctionRef<void(T* block, int64_t row, int64_t rows, int64_t column, int64_t columns)>;

// Gemm for each product of `batch`; threads share the products and, where those are large, their
// parts. `finish`, if given, sees each block once, those of many products in no order.
template <class T>
void BatchedGemm(const GemmBatch& batch, bool transpose_a, bool transpose_b, int64_t M, int64_t N,
                 int64_t K, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc,
                 double beta, const ParallelFor& each, const GemmFinish<T>* finish = nullptr);

}  // namespace penstock::kernels
