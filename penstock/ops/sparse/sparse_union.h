#pragma once

#include <array>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Two sparse tensors of one shape, combined where either has a value. Their indices are sorted, and
// so are those of the result.

namespace penstock::ops {

// Of sums of two values, those below `thresh` in magnitude are left out.
struct SparseAdd {
  static constexpr auto kName = "SparseAdd";
  static constexpr double kCost = 10;
  using Sig =
      Signature<In<"a_indices", int64_t>, In<"a_values", NumberType<"T">>, In<"a_shape", int64_t>,
                In<"b_indices", int64_t>, In<"b_values", NumberType<"T">>, In<"b_shape", int64_t>,
                In<"thresh", RealNumberType<"Treal">>, Out<"sum_indices", int64_t>,
                Out<"sum_values", NumberType<"T">>, Out<"sum_shape", int64_t>>;

  Result<std::array<Shape, 3>> InferShape(const Shape& a_indices, const Shape& a_values,
                                          const Shape& a_shape, const Shape& b_indices,
                                          const Shape& b_values, const Shape& b_shape,
                                          const Shape& thresh) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& a_indices, const Tensor& a_values,
                    const Tensor& a_shape, const Tensor& b_indices, const Tensor& b_values,
                    const Tensor& b_shape, const Tensor& thresh) const;
};

// Gives each value of a and b the gradient of the sum at its index, or zero where that was left
// out.
struct SparseAddGrad {
  static constexpr auto kName = "SparseAddGrad";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"backprop_val_grad", NumberType<"T">>, In<"a_indices", int64_t>,
                        In<"b_indices", int64_t>, In<"sum_indices", int64_t>,
                        Out<"a_val_grad", NumberType<"T">>, Out<"b_val_grad", NumberType<"T">>>;

  Result<std::array<Shape, 2>> InferShape(const Shape& grad, const Shape& a_indices,
                                          const Shape& b_indices, const Shape& sum_indices) const;
  Status ComputeCpu(CpuContext& context, const Tensor& grad, const Tensor& a_indices,
                    const Tensor& b_indices, const Tensor& sum_indices, Tensor& a_val_grad,
                    Tensor& b_val_grad) const;
};

Result<std::array<Shape, 2>> InferSparseExtreme(const Shape& a_indices, const Shape& a_values,
                                                const Shape& a_shape, const Shape& b_indices,
                                                const Shape& b_values, const Shape& b_shape);
Status SparseExtremeOf(CpuContext& context, bool is_max, const Tensor& a_indices,
                       const Tensor& a_values, const Tensor& a_shape, const Tensor& b_indices,
                       const Tensor& b_values, const Tensor& b_shape);

// The larger or smaller of the two; a value that is not there is zero.
template <FixedString Name, bool IsMax, class T>
struct SparseExtreme {
  static constexpr const char* kName = Name.text;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"a_indices", int64_t>, In<"a_values", T>, In<"a_shape", int64_t>,
                        In<"b_indices", int64_t>, In<"b_values", T>, In<"b_shape", int64_t>,
                        Out<"output_indices", int64_t>, Out<"output_values", T>>;

  Result<std::array<Shape, 2>> InferShape(const Shape& a_indices, const Shape& a_values,
                                          const Shape& a_shape, const Shape& b_indices,
                                          const Shape& b_values, const Shape& b_shape) const {
    return InferSparseExtreme(a_indices, a_values, a_shape, b_indices, b_values, b_shape);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& a_indices, const Tensor& a_values,
                    const Tensor& a_shape, const Tensor& b_indices, const Tensor& b_values,
                    const Tensor& b_shape) const {
    return SparseExtremeOf(context, IsMax, a_indices, a_values, a_shape, b_indices, b_values,
                           b_shape);
  }
};
using SparseSparseMaximum = SparseExtreme<"SparseSparseMaximum", true, RealNumberType<"T">>;
using SparseSparseMinimum = SparseExtreme<"SparseSparseMinimum", false, NumberType<"T">>;

}  // namespace penstock::ops
