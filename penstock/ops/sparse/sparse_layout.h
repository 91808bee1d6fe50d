#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Sparse tensors put in another order, shape or number of parts.

namespace penstock::ops {

// The same values with their indices in row-major order.
struct SparseReorder {
  static constexpr auto kName = "SparseReorder";
  using Sig = Signature<In<"input_indices", int64_t>, In<"input_values", AnyType<"T">>,
                        In<"input_shape", int64_t>, Out<"output_indices", int64_t>,
                        Out<"output_values", AnyType<"T">>>;

  Result<std::array<Shape, 2>> InferShape(const Shape& indices, const Shape& values,
                                          const Shape& extents) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                    const Tensor& extents) const;
};

// The same elements under another shape, of which one extent may be -1: what is left.
struct SparseReshape {
  static constexpr auto kName = "SparseReshape";
  static constexpr bool kNoGradient = true;
  using Sig =
      Signature<In<"input_indices", int64_t>, In<"input_shape", int64_t>, In<"new_shape", int64_t>,
                Out<"output_indices", int64_t>, Out<"output_shape", int64_t>>;

  Result<std::array<Shape, 2>> InferShape(const Shape& indices, const Shape& extents,
                                          const Shape& new_shape) const;
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& extents,
                    const Tensor& new_shape) const;
};

// The part from `start` on, of at most `size` along each axis.
struct SparseSlice {
  static constexpr auto kName = "SparseSlice";
  using Sig = Signature<In<"indices", int64_t>, In<"values", AnyType<"T">>, In<"shape", int64_t>,
                        In<"start", int64_t>, In<"size", int64_t>, Out<"output_indices", int64_t>,
                        Out<"output_values", AnyType<"T">>, Out<"output_shape", int64_t>>;

  Result<std::array<Shape, 3>> InferShape(const Shape& indices, const Shape& values,
                                          const Shape& extents, const Shape& start,
                                          const Shape& size) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                    const Tensor& extents, const Tensor& start, const Tensor& size) const;
};

// Gives each value of the slice its gradient, and zero to those outside.
struct SparseSliceGrad {
  static constexpr auto kName = "SparseSliceGrad";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"backprop_val_grad", NumberType<"T">>, In<"input_indices", int64_t>,
                        In<"input_start", int64_t>, In<"output_indices", int64_t>,
                        Out<"val_grad", NumberType<"T">>>;

  Result<Shape> InferShape(const Shape& grad, const Shape& input_indices, const Shape& start,
                           const Shape& output_indices) const;
  Status ComputeCpu(CpuContext& context, const Tensor& grad, const Tensor& input_indices,
                    const Tensor& start, const Tensor& output_indices, Tensor& val_grad) const;
};

// Sparse tensors joined along an axis, in row-major order.
struct SparseConcat {
  static constexpr auto kName = "SparseConcat";
  static constexpr bool kNoGradient = true;
  int64_t concat_dim = 0;
  using Sig =
      Signature<In<"indices", List<"N", int64_t, 2>>, In<"values", List<"N", AnyType<"T">, 2>>,
                In<"shapes", List<"N", int64_t, 2>>, Out<"output_indices", int64_t>,
                Out<"output_values", AnyType<"T">>, Out<"output_shape", int64_t>>;
  static constexpr std::tuple kAttrs{Field{"concat_dim", &SparseConcat::concat_dim}.Required()};

  Result<std::array<Shape, 3>> InferShape(std::span<const Known> indices,
                                          std::span<const Known> values,
                                          std::span<const Known> extents) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> indices,
                    std::span<Tensor* const> values, std::span<Tensor* const> extents) const;
};

// Parts along an axis; the first ones are one longer where it does not divide.
struct SparseSplit {
  static constexpr auto kName = "SparseSplit";
  static constexpr bool kNoGradient = true;
  int64_t num_split = 1;
  using Sig =
      Signature<In<"split_dim", int64_t>, In<"indices", int64_t>, In<"values", AnyType<"T">>,
                In<"shape", int64_t>, Out<"output_indices", List<"num_split", int64_t>>,
                Out<"output_values", List<"num_split", AnyType<"T">>>,
                Out<"output_shape", List<"num_split", int64_t>>>;
  static constexpr std::tuple kAttrs{Field{"num_split", &SparseSplit::num_split}.Required().Min(1)};

  Result<std::vector<Shape>> InferShape(const Integers& split_dim, const Shape& indices,
                                        const Shape& values, const Shape& extents) const;
  Status ComputeCpu(CpuContext& context, const Tensor& split_dim, const Tensor& indices,
                    const Tensor& values, const Tensor& extents) const;
};

}  // namespace penstock::ops
