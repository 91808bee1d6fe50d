#pragma once

#include <cstdint>

#include "penstock/core/parallel.h"
#include "penstock/kernels/elementwise.h"

namespace penstock::kernels {

// Rows of updates that go to rows of a table. R rows of the table, N updates, C elements a row.
struct Scatter {
  void* table = nullptr;          // [R, C]
  int64_t table_rows = 0;         // R
  int64_t row_elements = 0;       // C
  int64_t element_bytes = 0;      // 1, 2, 4, 8 or 16
  const int64_t* rows = nullptr;  // [N] where each update goes; negative: nowhere
  int64_t num_updates = 0;        // N
  const void* updates = nullptr;  // [N, C], or one element that stands for all
  bool is_scalar = false;
};

// table[rows[i], :] = fn(table[rows[i], :], updates[i, :]), in the order of i; a null `fn` puts the
// update in its place. `cost` is a rough number of cycles for one element. Each element of the
// table is written by one thread, in order: the result has the same bits for any number of threads.
// REQUIRES: rows below R; `updates` does not overlap the table.
void ScatterRows(const Scatter& scatter, BlockFn fn, double cost, const ParallelFor& each);

// The first position whose index is not in [0, limit), or -1.
int64_t FirstOutOfRange(const int64_t* indices, int64_t n, int64_t limit);

}  // namespace penstock::kernels
