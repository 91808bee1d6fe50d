#include "penstock/kernels/transpose.h"

namespace penstock::kernels {

TransposeStrides::TransposeStrides(const int64_t* dims, const int* permutation, int rank)
    : rank_(rank), numbers_(3 * static_cast<size_t>(rank)) {
  std::vector<int64_t> in_strides(rank);
  int64_t stride = 1;
  for (int i = rank; i-- > 0; stride *= dims[i]) in_strides[i] = stride;
  stride = 1;
  for (int i = rank; i-- > 0;) {
    const int64_t size = dims[permutation[i]];
    numbers_[i] = in_strides[permutation[i]];
    numbers_[rank + i] = stride;
    numbers_[2 * rank + i] = size;
    stride *= size;
  }
}

void Transpose(const void* in, const int64_t* dims, const int* permutation, int rank,
               int64_t element_bytes, void* out, const ParallelFor& each) {
  const TransposeStrides strides(dims, permutation, rank);
  CopyStrided(in, strides.src(), out, strides.dst(), strides.dims(), rank, element_bytes, each);
}

}  // namespace penstock::kernels
