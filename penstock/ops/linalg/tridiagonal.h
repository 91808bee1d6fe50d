#pragma once

#include <tuple>

#include "penstock/ops/linalg/matrix_batch.h"

// Matrices of three diagonals.

namespace penstock::ops {

using TridiagonalNumber = TypeVar<"T", double, float, complex64, complex128>;

// `diagonals` is [..., 3, n]: the one above the main diagonal, the main one, the one below.
struct TridiagonalSolve {
  static constexpr auto kName = "TridiagonalSolve";
  bool partial_pivoting = true;
  bool perturb_singular = false;
  using Sig = Signature<In<"diagonals", TridiagonalNumber>, In<"rhs", TridiagonalNumber>,
                        Out<"output", TridiagonalNumber>>;
  static constexpr std::tuple kAttrs{
      Field{"partial_pivoting", &TridiagonalSolve::partial_pivoting},
      Field{"perturb_singular", &TridiagonalSolve::perturb_singular}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& diagonals, const Shape& rhs) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& diagonals, const Tensor& rhs,
                    Tensor& output) const;
};

// Each diagonal is [..., 1, n].
struct TridiagonalMatMul {
  static constexpr auto kName = "TridiagonalMatMul";
  using Sig = Signature<In<"superdiag", TridiagonalNumber>, In<"maindiag", TridiagonalNumber>,
                        In<"subdiag", TridiagonalNumber>, In<"rhs", TridiagonalNumber>,
                        Out<"output", TridiagonalNumber>>;

  Result<Shape> InferShape(const Shape& superdiag, const Shape& maindiag, const Shape& subdiag,
                           const Shape& rhs) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& superdiag, const Tensor& maindiag,
                    const Tensor& subdiag, const Tensor& rhs, Tensor& output) const;
};

}  // namespace penstock::ops
