#pragma once

#include <cstdint>

#include "penstock/core/parallel.h"
#include "penstock/kernels/copy.h"

namespace penstock::kernels {

// The strides of a transposition as a strided copy: dimension i of the result is dimension
// permutation[i] of the dense source.
class TransposeStrides {
 public:
  // REQUIRES: `permutation` is one, of [0, rank).
  TransposeStrides(const int64_t* dims, const int* permutation, int rank);

  // Of the result's dimensions, in elements.
  const int64_t* src() const { return numbers_.data(); }
  const int64_t* dst() const { return numbers_.data() + rank_; }
  const int64_t* dims() const { return numbers_.data() + 2 * rank_; }

 private:
  int rank_;
  std::vector<int64_t> numbers_;
};

// out[i0, i1, ...] = in[...], where index i_k runs along dimension permutation[k] of `in`.
// REQUIRES: element_bytes is 1, 2, 4, 8 or 16; `in` and `out` do not overlap.
void Transpose(const void* in, const int64_t* dims, const int* permutation, int rank,
               int64_t element_bytes, void* out, const ParallelFor& each);

// Transpose for elements with a copy assignment, such as std::string.
template <class T>
void TransposeObjects(const T* in, const int64_t* dims, const int* permutation, int rank, T* out,
                      const ParallelFor& each) {
  const TransposeStrides strides(dims, permutation, rank);
  CopyStridedObjects(in, strides.src(), out, strides.dst(), strides.dims(), rank, each);
}

}  // namespace penstock::kernels
