#pragma once

#include <cstdint>
#include <vector>

#include "penstock/core/parallel.h"

namespace penstock::kernels {

enum class ReduceKind : uint8_t { kSum, kProd, kMax, kMin, kMean, kAll, kAny };
enum class ArgKind : uint8_t { kMax, kMin };

// A dense row-major array whose dimensions are each kept or reduced. Neighbours of one sort are
// merged and dimensions of one element left out, so that kept and reduced alternate.
class ReduceShape {
 public:
  // REQUIRES: dims are not negative, and their product fits int64_t.
  ReduceShape(const int64_t* dims, const bool* reduced, int rank);

  // kept, reduced, kept, ..., reduced, kept: at least three. Only the first and the last kept one,
  // and the reduced one of a shape that reduces nothing, may be 1.
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t num_outputs() const { return num_outputs_; }
  // Elements that go into each output.
  int64_t reduced() const { return reduced_; }

 private:
  std::vector<int64_t> dims_;
  int64_t num_outputs_ = 1;
  int64_t reduced_ = 1;
};

// Reduces `in`, an array of `shape`, to `out`, dense with the kept dimensions.
//  - Sum, Prod, Mean: any T but bool. 16-bit floats are summed in float; integers wrap, except that
//    Mean sums 64 bits; floating-point sums go through a tree, so that their error stays small.
//  - Max, Min: T real. A NaN among the inputs makes the output NaN.
//  - All, Any: T bool.
// Of no elements: 0, 1, the lowest (or -inf), the highest (or inf), for Mean NaN (integers and
// complex numbers: 0, as TensorFlow has it), true, false.
// The order of summation depends on the shape and the instruction set, never on the threads.
// REQUIRES: `in` and `out` do not overlap; T suits `kind`.
template <class T>
void Reduce(ReduceKind kind, const T* in, const ReduceShape& shape, T* out,
            const ParallelFor& each);

// Writes for each outer, inner the first index of the largest (smallest) of in[outer, :, inner],
// where `in` is [outer, n, inner]. NaNs never win; 0 when nothing does.
// REQUIRES: n > 0 unless there are no outputs. T real or bool; Index int32_t or int64_t and holds
// n.
template <class T, class Index>
void ArgReduce(ArgKind kind, const T* in, int64_t outer, int64_t n, int64_t inner, Index* out,
               const ParallelFor& each);

}  // namespace penstock::kernels
