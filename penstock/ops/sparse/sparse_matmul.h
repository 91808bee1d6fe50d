#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Products with a matrix that is mostly zero.

namespace penstock::ops {

// product = op(a) * op(b), where `a` is a sparse matrix, its indices in any order, and op()
// transposes and conjugates when its attribute says so.
struct SparseTensorDenseMatMul {
  static constexpr auto kName = "SparseTensorDenseMatMul";
  static constexpr double kCost = 10;
  bool adjoint_a = false;
  bool adjoint_b = false;
  using Index = TypeVarOr<"Tindices", int64_t, int32_t, int64_t>;
  using Sig =
      Signature<In<"a_indices", Index>, In<"a_values", AnyType<"T">>, In<"a_shape", int64_t>,
                In<"b", AnyType<"T">>, Out<"product", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"adjoint_a", &SparseTensorDenseMatMul::adjoint_a},
                                     Field{"adjoint_b", &SparseTensorDenseMatMul::adjoint_b}};

  Result<Shape> InferShape(const Shape& a_indices, const Shape& a_values, const Integers& a_shape,
                           const Shape& b) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& a_indices, const Tensor& a_values,
                    const Tensor& a_shape, const Tensor& b, Tensor& product) const;
};

// MatMul of dense matrices that are said to have many zeros. That saves less than it costs: the
// product is made as any other.
struct SparseMatMul {
  static constexpr auto kName = "SparseMatMul";
  static constexpr double kCost = 100;
  bool transpose_a = false;
  bool transpose_b = false;
  bool a_is_sparse = false;
  bool b_is_sparse = false;
  template <FixedString Name>
  using Number = TypeVarOr<Name, float, float, bfloat16>;
  using Sig = Signature<In<"a", Number<"Ta">>, In<"b", Number<"Tb">>, Out<"product", float>>;
  static constexpr std::tuple kAttrs{Field{"transpose_a", &SparseMatMul::transpose_a},
                                     Field{"transpose_b", &SparseMatMul::transpose_b},
                                     Field{"a_is_sparse", &SparseMatMul::a_is_sparse},
                                     Field{"b_is_sparse", &SparseMatMul::b_is_sparse}};

  Result<Shape> InferShape(const Shape& a, const Shape& b) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& a, const Tensor& b, Tensor& product) const;
};

}  // namespace penstock::ops
