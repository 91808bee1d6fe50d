#pragma once

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// A sparse tensor combined with a dense one.

namespace penstock::ops {

// Dense: the sum of both, which have one shape.
struct SparseTensorDenseAdd {
  static constexpr auto kName = "SparseTensorDenseAdd";
  using Index = IndexType<"Tindices">;
  using Sig =
      Signature<In<"a_indices", Index>, In<"a_values", NumberType<"T">>, In<"a_shape", Index>,
                In<"b", NumberType<"T">>, Out<"output", NumberType<"T">>>;

  Result<Shape> InferShape(const Shape& a_indices, const Shape& a_values, const Integers& a_shape,
                           const Shape& b) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& a_indices, const Tensor& a_values,
                    const Tensor& a_shape, const Tensor& b, Tensor& output) const;
};

enum class CwiseRule { kAdd, kMul, kDiv };

Result<Shape> InferSparseDense(const Shape& indices, const Shape& values, const Integers& extents,
                               const Shape& dense);
Status CombineSparseDense(CpuContext& context, CwiseRule rule, const Tensor& indices,
                          const Tensor& values, const Tensor& extents, const Tensor& dense,
                          Tensor& output);
void SparseDenseGradient(Gradients& g, CwiseRule rule);

// Sparse: each value with the element of `dense` at its index. `dense` is broadcast to the shape of
// the sparse tensor.
template <FixedString Name, CwiseRule Rule>
struct SparseDenseCwise {
  static constexpr const char* kName = Name.text;
  using T = NumberType<"T">;
  using Sig = Signature<In<"sp_indices", int64_t>, In<"sp_values", T>, In<"sp_shape", int64_t>,
                        In<"dense", T>, Out<"output", T>>;

  Result<Shape> InferShape(const Shape& indices, const Shape& values, const Integers& extents,
                           const Shape& dense) const {
    return InferSparseDense(indices, values, extents, dense);
  }
  void Gradient(Gradients& g) const { SparseDenseGradient(g, Rule); }
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                    const Tensor& extents, const Tensor& dense, Tensor& output) const {
    return CombineSparseDense(context, Rule, indices, values, extents, dense, output);
  }
};
using SparseDenseCwiseAdd = SparseDenseCwise<"SparseDenseCwiseAdd", CwiseRule::kAdd>;
using SparseDenseCwiseMul = SparseDenseCwise<"SparseDenseCwiseMul", CwiseRule::kMul>;
using SparseDenseCwiseDiv = SparseDenseCwise<"SparseDenseCwiseDiv", CwiseRule::kDiv>;

}  // namespace penstock::ops
