#pragma once

#include <cstdint>

#include "penstock/core/float16.h"
#include "penstock/core/parallel.h"

namespace penstock::kernels {

// Sums of some rows of a table, for groups of them: what a sparse matrix times a dense one is, and
// what embeddings are pooled by.
//   out[g, :] = scales[g] * (sum over k in [starts[g], starts[g + 1]) of
//                            weights[k] * table[rows[k], :])
template <class T>
struct RowSums {
  using Number = ComputeType<T>;  // 16-bit floats are summed in float

  const T* table = nullptr;  // [R, columns]
  int64_t columns = 0;
  const int64_t* starts = nullptr;  // [groups + 1]
  int64_t groups = 0;
  const int64_t* rows = nullptr;    // below R
  const Number* weights = nullptr;  // null: ones
  const Number* scales = nullptr;   // null: ones
};

// Writes [groups, columns]. The rows of a group are added in order, so that the result has the same
// bits for any number of threads. T: any number that is not quantised. Integers wrap.
template <class T>
void SumRows(const RowSums<T>& sums, T* out, const ParallelFor& each);

}  // namespace penstock::kernels
