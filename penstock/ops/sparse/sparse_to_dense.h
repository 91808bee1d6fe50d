#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

namespace penstock::ops {

// A tensor of `output_shape` full of default_value, but for sparse_values at sparse_indices: a
// scalar or a vector names places of a vector, a matrix has an index in each row.
struct SparseToDense {
  static constexpr auto kName = "SparseToDense";
  bool validate_indices = true;  // they must be sorted and distinct
  using Index = IndexType<"Tindices">;
  using Sig = Signature<In<"sparse_indices", Index>, In<"output_shape", Index>,
                        In<"sparse_values", AnyType<"T">>, In<"default_value", AnyType<"T">>,
                        Out<"dense", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"validate_indices", &SparseToDense::validate_indices}};

  Result<Shape> InferShape(const Shape& sparse_indices, const Integers& output_shape,
                           const Shape& sparse_values, const Shape& default_value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& sparse_indices, const Tensor& output_shape,
                    const Tensor& sparse_values, const Tensor& default_value, Tensor& dense) const;
};

}  // namespace penstock::ops
