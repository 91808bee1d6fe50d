#pragma once

#include <cstdint>
#include <span>

#include "penstock/core/function_ref.h"
#include "penstock/core/parallel.h"

namespace penstock::kernels {

// Finds the k best elements of each row of in[rows, columns]: larger ones first, the first of
// equals first, NaNs last. Calls take(row, places) for each row, with the places of the best in
// that order, or, unless `sorted`, in the order that a heap of them has: that of the standard
// library, filled from left to right (TensorFlow's programs see that one). Rows run in parallel.
// T: a real number. REQUIRES: 0 < k <= columns.
template <class T>
void TopK(const T* in, int64_t rows, int64_t columns, int64_t k, bool sorted,
          FunctionRef<void(int64_t row, std::span<const int64_t> places)> take,
          const ParallelFor& each);

}  // namespace penstock::kernels
