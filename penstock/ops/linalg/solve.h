#pragma once

#include <tuple>

#include "penstock/ops/linalg/matrix_batch.h"

// Inverses, determinants and linear equations, by one triangular decomposition a matrix. The names
// with Batch are older ones of the same ops.

namespace penstock::ops {

template <FixedString Name, class T>
struct MatrixInverseOp {
  static constexpr auto kName = Name.text;
  bool adjoint = false;
  using Sig = Signature<In<"input", T>, Out<"output", T>>;
  static constexpr std::tuple kAttrs{Field{"adjoint", &MatrixInverseOp::adjoint}};

  Result<Shape> InferShape(const Shape& input) const { return CheckSquare(input, "input"); }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};
using MatrixInverse = MatrixInverseOp<"MatrixInverse", DecomposableType<"T">>;
using BatchMatrixInverse = MatrixInverseOp<"BatchMatrixInverse", TypeVar<"T", double, float>>;

template <FixedString Name, class T>
struct MatrixSolveOp {
  static constexpr auto kName = Name.text;
  bool adjoint = false;
  using Sig = Signature<In<"matrix", T>, In<"rhs", T>, Out<"output", T>>;
  static constexpr std::tuple kAttrs{Field{"adjoint", &MatrixSolveOp::adjoint}};

  Result<Shape> InferShape(const Shape& matrix, const Shape& rhs) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& matrix, const Tensor& rhs,
                    Tensor& output) const;
};
using MatrixSolve = MatrixSolveOp<"MatrixSolve", DecomposableType<"T">>;
using BatchMatrixSolve = MatrixSolveOp<"BatchMatrixSolve", TypeVar<"T", double, float>>;

// Reads one triangle of `matrix`. The batch axes broadcast.
template <FixedString Name, class T>
struct MatrixTriangularSolveOp {
  static constexpr auto kName = Name.text;
  bool lower = true;
  bool adjoint = false;
  using Sig = Signature<In<"matrix", T>, In<"rhs", T>, Out<"output", T>>;
  static constexpr std::tuple kAttrs{Field{"lower", &MatrixTriangularSolveOp::lower},
                                     Field{"adjoint", &MatrixTriangularSolveOp::adjoint}};

  Result<Shape> InferShape(const Shape& matrix, const Shape& rhs) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& matrix, const Tensor& rhs,
                    Tensor& output) const;
};
using MatrixTriangularSolve =
    MatrixTriangularSolveOp<"MatrixTriangularSolve",
                            TypeVar<"T", bfloat16, double, float, half, complex64, complex128>>;
using BatchMatrixTriangularSolve =
    MatrixTriangularSolveOp<"BatchMatrixTriangularSolve", TypeVar<"T", double, float>>;

// Least squares: by the normal equations when `fast`, which alone use the regularizer.
template <FixedString Name, class T>
struct MatrixSolveLsOp {
  static constexpr auto kName = Name.text;
  bool fast = true;
  using Sig =
      Signature<In<"matrix", T>, In<"rhs", T>, In<"l2_regularizer", double>, Out<"output", T>>;
  static constexpr std::tuple kAttrs{Field{"fast", &MatrixSolveLsOp::fast}};

  Result<Shape> InferShape(const Shape& matrix, const Shape& rhs, const Shape& l2) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& matrix, const Tensor& rhs, double l2,
                    Tensor& output) const;
};
using MatrixSolveLs = MatrixSolveLsOp<"MatrixSolveLs", DecomposableType<"T">>;
using BatchMatrixSolveLs = MatrixSolveLsOp<"BatchMatrixSolveLs", TypeVar<"T", double, float>>;

template <FixedString Name, class T>
struct MatrixDeterminantOp {
  static constexpr auto kName = Name.text;
  using Sig = Signature<In<"input", T>, Out<"output", T>>;

  Result<Shape> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};
using MatrixDeterminant =
    MatrixDeterminantOp<"MatrixDeterminant",
                        TypeVar<"T", half, float, double, complex64, complex128>>;
using BatchMatrixDeterminant =
    MatrixDeterminantOp<"BatchMatrixDeterminant",
                        TypeVar<"T", float, double, complex64, complex128>>;

struct LogMatrixDeterminant {
  static constexpr auto kName = "LogMatrixDeterminant";
  using Number = TypeVar<"T", half, float, double, complex64, complex128>;
  using Sig =
      Signature<In<"input", Number>, Out<"sign", Number>, Out<"log_abs_determinant", Number>>;

  Result<Shape> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& sign,
                    Tensor& log_abs_determinant) const;
};

struct Lu {
  static constexpr auto kName = "Lu";
  using Sig = Signature<In<"input", DecomposableType<"T">>, Out<"lu", DecomposableType<"T">>,
                        Out<"p", TypeVarOr<"output_idx_type", int32_t, int32_t, int64_t>>>;

  Result<std::array<Shape, 2>> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& lu, Tensor& p) const;
};

template <FixedString Name, class T>
struct CholeskyOp {
  static constexpr auto kName = Name.text;
  using Sig = Signature<In<"input", T>, Out<"output", T>>;

  Result<Shape> InferShape(const Shape& input) const { return CheckSquare(input, "input"); }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};
using Cholesky = CholeskyOp<"Cholesky", DecomposableType<"T">>;
using BatchCholesky = CholeskyOp<"BatchCholesky", TypeVar<"T", double, float>>;

template <FixedString Name, class T>
struct CholeskyGradOp {
  static constexpr auto kName = Name.text;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"l", T>, In<"grad", T>, Out<"output", T>>;

  Result<Shape> InferShape(const Shape& l, const Shape& grad) const;
  Status ComputeCpu(CpuContext& context, const Tensor& l, const Tensor& grad, Tensor& output) const;
};
using CholeskyGrad = CholeskyGradOp<"CholeskyGrad", TypeVar<"T", half, float, double>>;
using BatchCholeskyGrad = CholeskyGradOp<"BatchCholeskyGrad", TypeVar<"T", float, double>>;

}  // namespace penstock::ops
