#pragma once

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Diagonals and bands of matrices, the last two axes of a tensor. The names with Batch are older
// ones of the same ops.

namespace penstock::ops {

// Keeps num_lower diagonals below the main one and num_upper above it, all when negative.
template <FixedString Name, class Index>
struct MatrixBandPartOp {
  static constexpr auto kName = Name.text;
  using Sig = Signature<In<"input", AnyType<"T">>, In<"num_lower", Index>, In<"num_upper", Index>,
                        Out<"band", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input, const Integers& num_lower,
                           const Integers& num_upper) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& num_lower,
                    const Integers& num_upper, Tensor& band) const;
};
using MatrixBandPart =
    MatrixBandPartOp<"MatrixBandPart", TypeVarOr<"Tindex", int64_t, int32_t, int64_t>>;
using BatchMatrixBandPart = MatrixBandPartOp<"BatchMatrixBandPart", int64_t>;

// Vectors become the diagonals of square matrices.
template <FixedString Name>
struct MatrixDiagOp {
  static constexpr auto kName = Name.text;
  using Sig = Signature<In<"diagonal", AnyType<"T">>, Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& diagonal) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& diagonal, Tensor& output) const;
};
using MatrixDiag = MatrixDiagOp<"MatrixDiag">;
using BatchMatrixDiag = MatrixDiagOp<"BatchMatrixDiag">;

template <FixedString Name>
struct MatrixDiagPartOp {
  static constexpr auto kName = Name.text;
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"diagonal", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& diagonal) const;
};
using MatrixDiagPart = MatrixDiagPartOp<"MatrixDiagPart">;
using BatchMatrixDiagPart = MatrixDiagPartOp<"BatchMatrixDiagPart">;

template <FixedString Name>
struct MatrixSetDiagOp {
  static constexpr auto kName = Name.text;
  using Sig = Signature<In<"input", AnyType<"T">>, In<"diagonal", AnyType<"T">>,
                        Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input, const Shape& diagonal) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& diagonal,
                    Tensor& output) const;
};
using MatrixSetDiag = MatrixSetDiagOp<"MatrixSetDiag">;
using BatchMatrixSetDiag = MatrixSetDiagOp<"BatchMatrixSetDiag">;

// output[i..., i...] = diagonal[i...], zeros elsewhere.
struct Diag {
  static constexpr auto kName = "Diag";
  using Number =
      TypeVar<"T", bfloat16, half, float, double, int32_t, int64_t, complex64, complex128>;
  using Sig = Signature<In<"diagonal", Number>, Out<"output", Number>>;

  Result<Shape> InferShape(const Shape& diagonal) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& diagonal, Tensor& output) const;
};

struct DiagPart {
  static constexpr auto kName = "DiagPart";
  using Number = Diag::Number;
  using Sig = Signature<In<"input", Number>, Out<"diagonal", Number>>;

  Result<Shape> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& diagonal) const;
};

}  // namespace penstock::ops
