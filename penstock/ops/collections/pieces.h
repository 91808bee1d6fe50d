#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/core/function_ref.h"
#include "penstock/device/kernel.h"

// Many tensors as one and back: what lists and arrays of tensors share. A piece that is not
// initialized() stands for zeros.

namespace penstock::ops {

// Copies n elements of `from`, from `begin` on, to `to` from `at` on. REQUIRES: equal dtypes.
void CopyPiece(const Tensor& from, int64_t begin, Tensor& to, int64_t at, int64_t n);
// Writes zeros over n elements; strings and handles are made empty.
void ZeroPiece(Tensor& to, int64_t at, int64_t n);
Result<Tensor> MakeZeros(KernelContext& context, DType dtype, const Shape& shape);

// How to get at the i-th of several tensors.
using PieceAt = FunctionRef<const Tensor&(int64_t)>;

// [count] + shape, in one allocation. REQUIRES: each piece is of `dtype` and `shape` or not
// initialized(). InvalidArgument when the result is too large to address.
Result<Tensor> StackPieces(KernelContext& context, DType dtype, const Shape& shape, int64_t count,
                           PieceAt piece);
// The pieces one after the other along axis 0: [sum of lengths] + rest. REQUIRES: piece i is of
// `dtype` and shape [lengths[i]] + rest or not initialized().
Result<Tensor> ConcatPieces(KernelContext& context, DType dtype, const Shape& rest,
                            std::span<const int64_t> lengths, PieceAt piece);

// Element i along axis 0, sharing memory. REQUIRES: rank >= 1, i in range.
Tensor RowOf(const Tensor& tensor, int64_t i);
// Checks that `lengths` cut `rows` without rest and are not negative.
Status CheckLengths(std::span<const int64_t> lengths, const Shape& value);

// sum = sum + change, in place where nobody else holds the memory. REQUIRES: equal dtypes and
// shapes. Unimplemented where the dtype has no sum.
Status AddTo(KernelContext& context, Tensor& sum, const Tensor& change);

// `first` before the axes of `rest`. REQUIRES: the rank stays within Shape::kMaxRank.
Shape Prepended(int64_t first, const Shape& rest);

}  // namespace penstock::ops
