#pragma once

#include <array>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Rows without a value given one: a default, in the first place of the row.

namespace penstock::ops {

// The values come out ordered by row; reverse_index_map says where each went.
struct SparseFillEmptyRows {
  static constexpr auto kName = "SparseFillEmptyRows";
  using Sig = Signature<In<"indices", int64_t>, In<"values", AnyType<"T">>,
                        In<"dense_shape", int64_t>, In<"default_value", AnyType<"T">>,
                        Out<"output_indices", int64_t>, Out<"output_values", AnyType<"T">>,
                        Out<"empty_row_indicator", bool>, Out<"reverse_index_map", int64_t>>;

  Result<std::array<Shape, 4>> InferShape(const Shape& indices, const Shape& values,
                                          const Integers& dense_shape,
                                          const Shape& default_value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                    const Tensor& dense_shape, const Tensor& default_value) const;
};

// The same for a ragged tensor, whose values have only a row.
struct RaggedFillEmptyRows {
  static constexpr auto kName = "RaggedFillEmptyRows";
  using Sig = Signature<In<"value_rowids", int64_t>, In<"values", AnyType<"T">>,
                        In<"nrows", int64_t>, In<"default_value", AnyType<"T">>,
                        Out<"output_value_rowids", int64_t>, Out<"output_values", AnyType<"T">>,
                        Out<"empty_row_indicator", bool>, Out<"reverse_index_map", int64_t>>;

  Result<std::array<Shape, 4>> InferShape(const Shape& value_rowids, const Shape& values,
                                          const Integers& nrows, const Shape& default_value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& value_rowids, const Tensor& values,
                    const Integers& nrows, const Tensor& default_value) const;
};

Result<std::array<Shape, 2>> InferFillEmptyRowsGrad(const Shape& reverse_index_map,
                                                    const Shape& grad_values);
Status FillEmptyRowsGradient(CpuContext& context, const Tensor& reverse_index_map,
                             const Tensor& grad_values, Tensor& d_values, Tensor& d_default_value);

// Each value gets the gradient of its place, the default the sum of all others.
template <FixedString Name>
struct FillEmptyRowsGrad {
  static constexpr const char* kName = Name.text;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"reverse_index_map", int64_t>, In<"grad_values", AnyType<"T">>,
                        Out<"d_values", AnyType<"T">>, Out<"d_default_value", AnyType<"T">>>;

  Result<std::array<Shape, 2>> InferShape(const Shape& reverse_index_map,
                                          const Shape& grad_values) const {
    return InferFillEmptyRowsGrad(reverse_index_map, grad_values);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& reverse_index_map, const Tensor& grad_values,
                    Tensor& d_values, Tensor& d_default_value) const {
    return FillEmptyRowsGradient(context, reverse_index_map, grad_values, d_values,
                                 d_default_value);
  }
};
using SparseFillEmptyRowsGrad = FillEmptyRowsGrad<"SparseFillEmptyRowsGrad">;
using RaggedFillEmptyRowsGrad = FillEmptyRowsGrad<"RaggedFillEmptyRowsGrad">;

}  // namespace penstock::ops
