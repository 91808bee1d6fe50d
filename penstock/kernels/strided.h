#pragma once

#include <cstdint>
#include <vector>

namespace penstock::kernels {

// One dimension of a copy: its size, and how far one step goes in the source and the destination.
struct StridedDim {
  int64_t size;
  int64_t src;
  int64_t dst;
};

// The fewest dimensions that make the same copy: those of one element left out, the others ordered
// so that the destination is written in order, neighbours merged where a step of the outer one is
// the end of the inner one. Strides are multiplied by `scale`. No dimension when there is one
// element; a single one of size 0 when there is none.
std::vector<StridedDim> CollapseStrided(const int64_t* src_strides, const int64_t* dst_strides,
                                        const int64_t* dims, int rank, int64_t scale);

// The offsets of successive indices of some dimensions, the last one fastest.
class StridedIterator {
 public:
  // Starts at the index-th of them. REQUIRES: `dims` outlives it.
  StridedIterator(const std::vector<StridedDim>& dims, int64_t index);

  int64_t src() const { return src_; }
  int64_t dst() const { return dst_; }
  void Next();

 private:
  const std::vector<StridedDim>& dims_;
  std::vector<int64_t> index_;
  int64_t src_ = 0;
  int64_t dst_ = 0;
};

// The number of indices that `dims` have.
int64_t CountIndices(const std::vector<StridedDim>& dims);

}  // namespace penstock::kernels
