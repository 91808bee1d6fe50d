#include "penstock/kernels/strided.h"

#include <algorithm>
#include <cstdlib>

namespace penstock::kernels {

std::vector<StridedDim> CollapseStrided(const int64_t* src_strides, const int64_t* dst_strides,
                                        const int64_t* dims, int rank, int64_t scale) {
  std::vector<StridedDim> all;
  all.reserve(rank);
  for (int i = 0; i < rank; ++i) {
    if (dims[i] == 0) return {{0, 0, 0}};
    if (dims[i] > 1) all.push_back({dims[i], src_strides[i] * scale, dst_strides[i] * scale});
  }
  std::stable_sort(all.begin(), all.end(), [](const StridedDim& x, const StridedDim& y) {
    return std::abs(x.dst) > std::abs(y.dst);
  });
  size_t kept = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const StridedDim inner = all[i];
    if (kept > 0) {
      StridedDim& outer = all[kept - 1];
      if (outer.src == inner.src * inner.size && outer.dst == inner.dst * inner.size) {
        outer = {outer.size * inner.size, inner.src, inner.dst};
        continue;
      }
    }
    all[kept++] = inner;
  }
  all.resize(kept);
  return all;
}

StridedIterator::StridedIterator(const std::vector<StridedDim>& dims, int64_t index)
    : dims_(dims), index_(dims.size()) {
  for (size_t i = dims.size(); i-- > 0; index /= dims[i].size) {
    index_[i] = index % dims[i].size;
    src_ += index_[i] * dims[i].src;
    dst_ += index_[i] * dims[i].dst;
  }
}

void StridedIterator::Next() {
  for (size_t i = dims_.size(); i-- > 0;) {
    const StridedDim& dim = dims_[i];
    src_ += dim.src;
    dst_ += dim.dst;
    if (++index_[i] < dim.size) return;
    index_[i] = 0;
    src_ -= dim.size * dim.src;
    dst_ -= dim.size * dim.dst;
  }
}

int64_t CountIndices(const std::vector<StridedDim>& dims) {
  int64_t count = 1;
  for (const StridedDim& dim : dims) count *= dim.size;
  return count;
}

}  // namespace penstock::kernels
