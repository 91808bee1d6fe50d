#pragma once

#include <cstdint>
#include <span>

#include "penstock/core/parallel.h"
#include "penstock/kernels/elementwise.h"

namespace penstock::kernels {

// An input of an element-wise operation, as seen from the shape of its output.
struct Operand {
  const void* data;
  int element_bytes;       // 1, 2, 4, 8 or 16
  bool is_scalar = false;  // one element stands for all
  // How far it moves, in elements, for one step along each dimension of the output: 0 where it is
  // broadcast. Null: it is a scalar, or lies like the output.
  const int64_t* strides = nullptr;

  static Operand Dense(const void* data, int element_bytes) { return {data, element_bytes}; }
  static Operand Scalar(const void* data, int element_bytes) { return {data, element_bytes, true}; }
  static Operand Strided(const void* data, int element_bytes, const int64_t* strides) {
    return {data, element_bytes, false, strides};
  }
};

// Writes the strides with which a row-major operand of `shape` is read along `output_shape`, by
// NumPy's rules.
// REQUIRES: the shapes agree; `strides` has room for output_shape.size() values.
void BroadcastStrides(std::span<const int64_t> shape, std::span<const int64_t> output_shape,
                      int64_t* strides);

// output[...] = fn(operands[0][...], ...) for each element of `shape`; the output is row-major.
// `cost` is a rough number of cycles for one element. The output may be the buffer of an operand
// that lies like it and has elements of the same size. Allocates nothing, and costs little more
// than the call of fn, where all operands are dense or scalar.
// REQUIRES: at most kMaxOperands operands; the number of elements fits in int64_t.
inline constexpr int kMaxOperands = 8;
void RunElementwise(BlockFn fn, std::span<const Operand> operands, std::span<const int64_t> shape,
                    void* output, int output_bytes, double cost, const ParallelFor& each);

}  // namespace penstock::kernels
