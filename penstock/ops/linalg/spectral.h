#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/linalg/matrix_batch.h"

// Orthogonal factors, singular values, eigenvalues and functions of matrices. The names with Batch
// are older ones of the same ops.

namespace penstock::ops {

struct Qr {
  static constexpr auto kName = "Qr";
  bool full_matrices = false;
  using Number = DecomposableType<"T">;
  using Sig = Signature<In<"input", Number>, Out<"q", Number>, Out<"r", Number>>;
  static constexpr std::tuple kAttrs{Field{"full_matrices", &Qr::full_matrices}};

  Result<std::array<Shape, 2>> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& q, Tensor& r) const;
};

// Without compute_uv, u and v are scalars that mean nothing.
template <FixedString Name, class T>
struct SvdOp {
  static constexpr auto kName = Name.text;
  bool compute_uv = true;
  bool full_matrices = false;
  using Sig = Signature<In<"input", T>, Out<"s", T>, Out<"u", T>, Out<"v", T>>;
  static constexpr std::tuple kAttrs{Field{"compute_uv", &SvdOp::compute_uv},
                                     Field{"full_matrices", &SvdOp::full_matrices}};

  Result<std::array<Shape, 3>> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& s, Tensor& u,
                    Tensor& v) const;
};
using Svd = SvdOp<"Svd", DecomposableType<"T">>;
using BatchSvd = SvdOp<"BatchSvd", TypeVar<"T", double, float, complex64, complex128>>;

// Reads the lower triangle of a self-adjoint matrix. Without compute_v, v is a
// scalar that means nothing.
template <FixedString Name, class T>
struct SelfAdjointEigV2Op {
  static constexpr auto kName = Name.text;
  bool compute_v = true;
  using Sig = Signature<In<"input", T>, Out<"e", T>, Out<"v", T>>;
  static constexpr std::tuple kAttrs{Field{"compute_v", &SelfAdjointEigV2Op::compute_v}};

  Result<std::array<Shape, 2>> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& e, Tensor& v) const;
};
using SelfAdjointEigV2 = SelfAdjointEigV2Op<"SelfAdjointEigV2", DecomposableType<"T">>;
using BatchSelfAdjointEigV2 =
    SelfAdjointEigV2Op<"BatchSelfAdjointEigV2", TypeVar<"T", double, float>>;

// The first form: a row of eigenvalues above the matrix of eigenvectors.
template <FixedString Name, class T>
struct SelfAdjointEigOp {
  static constexpr auto kName = Name.text;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input", T>, Out<"output", T>>;

  Result<Shape> InferShape(const Shape& input) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};
using SelfAdjointEig = SelfAdjointEigOp<"SelfAdjointEig", TypeVar<"T", double, float, half>>;
using BatchSelfAdjointEig = SelfAdjointEigOp<"BatchSelfAdjointEig", TypeVar<"T", double, float>>;

struct Eig {
  static constexpr auto kName = "Eig";
  bool compute_v = true;
  using Sig = Signature<In<"input", TypeVar<"T", float, double, complex64, complex128>>,
                        Out<"e", TypeVar<"Tout", complex64, complex128>>,
                        Out<"v", TypeVar<"Tout", complex64, complex128>>>;
  static constexpr std::tuple kAttrs{Field{"compute_v", &Eig::compute_v}};

  Result<std::array<Shape, 2>> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& e, Tensor& v) const;
};

struct MatrixSquareRoot {
  static constexpr auto kName = "MatrixSquareRoot";
  using Sig = Signature<In<"input", DecomposableType<"T">>, Out<"output", DecomposableType<"T">>>;

  Result<Shape> InferShape(const Shape& input) const { return CheckSquare(input, "input"); }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

struct MatrixLogarithm {
  static constexpr auto kName = "MatrixLogarithm";
  static constexpr bool kNoGradient = true;
  using Number = TypeVar<"T", complex64, complex128>;
  using Sig = Signature<In<"input", Number>, Out<"output", Number>>;

  Result<Shape> InferShape(const Shape& input) const { return CheckSquare(input, "input"); }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

}  // namespace penstock::ops
