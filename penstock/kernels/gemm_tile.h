#pragma once

#include <cstdint>

namespace penstock::kernels {

// One product, or one block of rows and columns of it; see Gemm for the letters.
template <class T>
struct GemmProblem {
  bool transpose_a;
  bool transpose_b;
  int64_t M;
  int64_t N;
  int64_t K;
  const T* a;
  int64_t lda;
  const T* b;
  int64_t ldb;
  T* c;
  int64_t ldc;
  double beta;

  // The product for rows [m, m + rows) and columns [n, n + columns) of C.
  GemmProblem Block(int64_t m, int64_t rows, int64_t n, int64_t columns) const {
    GemmProblem block = *this;
    block.M = rows;
    block.N = columns;
    block.a = a + m * (transpose_a ? 1 : lda);
    block.b = b + n * (transpose_b ? ldb : 1);
    block.c = c + m * ldc + n;
    return block;
  }
};

// Multiplies a block on the calling thread by straight loops: for tiny products, and for any where
// memory is short.
template <class T>
void GemmPlain(const GemmProblem<T>& problem);

// Multiplies a block on the calling thread by packed panels and vector registers. The oracle of the
// libraries.
template <class T>
void GemmReference(const GemmProblem<T>& problem);

// Multiplies a block on the calling thread without packing anything: for a few rows of A.
// REQUIRES: A is not transposed.
void GemmNarrow(const GemmProblem<float>& problem);

}  // namespace penstock::kernels
