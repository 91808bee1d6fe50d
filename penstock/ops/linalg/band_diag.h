#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Several diagonals of matrices at once. `k` is one diagonal's number (0 the main one, above it
// positive) or the lowest and the highest of a band. A band is stored as rows [..., number,
// longest], the highest diagonal first; shorter ones are padded at the end that `align` says: how
// diagonals above the main one are pushed, then how those below it are.

namespace penstock::ops {

constexpr std::string_view kDiagonalAlignments = "LEFT_RIGHT|RIGHT_LEFT|LEFT_LEFT|RIGHT_RIGHT";

struct MatrixDiagV2 {
  static constexpr auto kName = "MatrixDiagV2";
  using Any = AnyType<"T">;
  using Sig = Signature<In<"diagonal", Any>, In<"k", int32_t>, In<"num_rows", int32_t>,
                        In<"num_cols", int32_t>, In<"padding_value", Any>, Out<"output", Any>>;

  Result<Shape> InferShape(const Shape& diagonal, const Integers& k, const Integers& num_rows,
                           const Integers& num_cols, const Shape& padding_value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& diagonal, const Integers& k,
                    const Integers& num_rows, const Integers& num_cols, const Tensor& padding_value,
                    Tensor& output) const;
};

struct MatrixDiagV3 {
  static constexpr auto kName = "MatrixDiagV3";
  std::string align = "RIGHT_LEFT";
  using Sig = MatrixDiagV2::Sig;
  static constexpr std::tuple kAttrs{
      Field{"align", &MatrixDiagV3::align}.OneOf(kDiagonalAlignments)};

  Result<Shape> InferShape(const Shape& diagonal, const Integers& k, const Integers& num_rows,
                           const Integers& num_cols, const Shape& padding_value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& diagonal, const Integers& k,
                    const Integers& num_rows, const Integers& num_cols, const Tensor& padding_value,
                    Tensor& output) const;
};

struct MatrixDiagPartV2 {
  static constexpr auto kName = "MatrixDiagPartV2";
  using Any = AnyType<"T">;
  using Sig =
      Signature<In<"input", Any>, In<"k", int32_t>, In<"padding_value", Any>, Out<"diagonal", Any>>;

  Result<Shape> InferShape(const Shape& input, const Integers& k, const Shape& padding_value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& k,
                    const Tensor& padding_value, Tensor& diagonal) const;
};

struct MatrixDiagPartV3 {
  static constexpr auto kName = "MatrixDiagPartV3";
  std::string align = "RIGHT_LEFT";
  using Sig = MatrixDiagPartV2::Sig;
  static constexpr std::tuple kAttrs{
      Field{"align", &MatrixDiagPartV3::align}.OneOf(kDiagonalAlignments)};

  Result<Shape> InferShape(const Shape& input, const Integers& k, const Shape& padding_value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& k,
                    const Tensor& padding_value, Tensor& diagonal) const;
};

struct MatrixSetDiagV2 {
  static constexpr auto kName = "MatrixSetDiagV2";
  using Any = AnyType<"T">;
  using Sig =
      Signature<In<"input", Any>, In<"diagonal", Any>, In<"k", int32_t>, Out<"output", Any>>;

  Result<Shape> InferShape(const Shape& input, const Shape& diagonal, const Integers& k) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& diagonal,
                    const Integers& k, Tensor& output) const;
};

struct MatrixSetDiagV3 {
  static constexpr auto kName = "MatrixSetDiagV3";
  std::string align = "RIGHT_LEFT";
  using Sig = MatrixSetDiagV2::Sig;
  static constexpr std::tuple kAttrs{
      Field{"align", &MatrixSetDiagV3::align}.OneOf(kDiagonalAlignments)};

  Result<Shape> InferShape(const Shape& input, const Shape& diagonal, const Integers& k) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& diagonal,
                    const Integers& k, Tensor& output) const;
};

}  // namespace penstock::ops
