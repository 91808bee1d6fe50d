#pragma once

#include <cstdint>

#include "penstock/kernels/reduce.h"

namespace penstock::kernels {

// `blocks` blocks of `rows` rows of `width` neighbouring elements, strides in elements.
struct FoldExtent {
  int64_t blocks;
  int64_t block_stride;
  int64_t rows;
  int64_t row_stride;
  int64_t width;
};

// The arithmetic of one reduction of one type, on one thread, types erased. An accumulator holds
// what an output has gathered so far, in a type that may be wider than the output's.
struct FoldKernels {
  int64_t accumulator_bytes;
  void (*fill)(void* accumulators, int64_t n);  // with the reduction of nothing
  // accumulators[b * width + i] gathers in[b * block_stride + r * row_stride + i] for all rows r.
  void (*fold)(const void* in, const FoldExtent& extent, void* accumulators);
  void (*combine)(void* accumulators, const void* others, int64_t n);
  // out[i] = the output of accumulators[i], which gathered `count` elements.
  void (*finish)(const void* accumulators, int64_t n, int64_t count, void* out);
};

// The widest row that ArgKernels::rows takes.
inline constexpr int64_t kMaxArgWidth = 256;

struct ArgKernels {
  // index[b] = the winner among in[b * n .. b * n + n).
  void (*runs)(const void* in, int64_t blocks, int64_t n, int64_t* index);
  // index[i] = the winner among in[r * row_stride + i] for r in [0, n).
  void (*rows)(const void* in, int64_t n, int64_t row_stride, int64_t width, int64_t* index);
  // The winner among in[candidates[0]], in[candidates[1]], ..., or 0.
  int64_t (*pick)(const void* in, const int64_t* candidates, int64_t n);
};

// The kernels of this machine's instruction set. All null where T does not suit the kind.
template <class T>
FoldKernels FoldKernelsOf(ReduceKind kind);
template <class T>
ArgKernels ArgKernelsOf(ArgKind kind);

}  // namespace penstock::kernels
