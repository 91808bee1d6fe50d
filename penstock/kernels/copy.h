#pragma once

#include <cstdint>
#include <vector>

#include "penstock/core/function_ref.h"
#include "penstock/core/parallel.h"

namespace penstock::kernels {

// Copies dst[i . dst_strides] = src[i . src_strides] for all indices i within `dims`: slices with
// any step, concatenation, splitting, padding, tiling, broadcasting (a source stride of 0),
// reversal (a negative one) and transposition are all this. Strides are in elements. REQUIRES:
// element_bytes is 1, 2, 4, 8 or 16; no element of dst is written twice, or read.
void CopyStrided(const void* src, const int64_t* src_strides, void* dst, const int64_t* dst_strides,
                 const int64_t* dims, int rank, int64_t element_bytes, const ParallelFor& each);

// Walks as CopyStrided does, and leaves the copying to `copy(src, dst, src_step, dst_step, n)`:
// elements at offsets src + k * src_step and dst + k * dst_step, for k in [0, n). `cost` is a rough
// number of cycles an element takes. Parts run on several threads.
void WalkStrided(const int64_t* src_strides, const int64_t* dst_strides, const int64_t* dims,
                 int rank, double cost, const ParallelFor& each,
                 FunctionRef<void(int64_t, int64_t, int64_t, int64_t, int64_t)> copy);

// CopyStrided for elements with a copy assignment, such as std::string.
template <class T>
void CopyStridedObjects(const T* src, const int64_t* src_strides, T* dst,
                        const int64_t* dst_strides, const int64_t* dims, int rank,
                        const ParallelFor& each) {
  WalkStrided(src_strides, dst_strides, dims, rank, /*cost=*/50, each,
              [&](int64_t from, int64_t to, int64_t src_step, int64_t dst_step, int64_t n) {
                for (int64_t k = 0; k < n; ++k) dst[to + k * dst_step] = src[from + k * src_step];
              });
}

// The source of a gather is [batch, outer, gather_dim, inner], its indices [batch, num_indices],
// its result [batch, outer, num_indices, inner].
struct GatherShape {
  int64_t batch = 1;
  int64_t outer = 1;
  int64_t gather_dim = 0;
  int64_t num_indices = 0;
  int64_t inner = 1;
};

// Copies the rows that `indices` name: elements are plain bytes. Returns the first position in
// `indices` whose value is not in [0, gather_dim), or -1 when all are; rows of such indices are
// left unwritten. Index: int32_t or int64_t.
template <class Index>
int64_t GatherRows(const void* params, const Index* indices, const GatherShape& shape,
                   int64_t element_bytes, void* out, const ParallelFor& each);

// Calls copy(params_row, out_row) for each row of a gather, rows counted in units of `inner`;
// returns as GatherRows does.
template <class Index>
int64_t WalkGather(const Index* indices, const GatherShape& shape, double cost,
                   const ParallelFor& each, FunctionRef<void(int64_t, int64_t)> copy);

// GatherRows for elements with a copy assignment, such as std::string.
template <class T, class Index>
int64_t GatherObjects(const T* params, const Index* indices, const GatherShape& shape, T* out,
                      const ParallelFor& each) {
  return WalkGather(indices, shape, 50.0 * static_cast<double>(shape.inner), each,
                    [&](int64_t from, int64_t to) {
                      for (int64_t k = 0; k < shape.inner; ++k) {
                        out[to * shape.inner + k] = params[from * shape.inner + k];
                      }
                    });
}

}  // namespace penstock::kernels
