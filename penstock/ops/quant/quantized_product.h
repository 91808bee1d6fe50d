#pragma once

#include <array>
#include <string>
#include <vector>

#include "penstock/ops/nn/conv_geometry.h"
#include "penstock/ops/op_kernel.h"

// Products and convolutions of 8-bit numbers that stand for floats between a minimum and a maximum.
// Sums are exact in 32 bits; the range that comes with them says what they stand for.

namespace penstock::ops {

template <FixedString Name>
using QuantizedNumber = TypeVar<Name, qint8, quint8, qint32, qint16, quint16>;
template <FixedString Name, class Default>
using QuantizedNumberOr = TypeVarOr<Name, Default, qint8, quint8, qint32, qint16, quint16>;

struct QuantizedMatMul {
  static constexpr auto kName = "QuantizedMatMul";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 10;
  bool transpose_a = false;
  bool transpose_b = false;
  DType Tactivation = DType::kQuint8;
  using Sig = Signature<In<"a", QuantizedNumber<"T1">>, In<"b", QuantizedNumber<"T2">>,
                        In<"min_a", float>, In<"max_a", float>, In<"min_b", float>,
                        In<"max_b", float>, Out<"out", QuantizedNumberOr<"Toutput", qint32>>,
                        Out<"min_out", float>, Out<"max_out", float>>;
  static constexpr std::tuple kAttrs{
      Field{"transpose_a", &QuantizedMatMul::transpose_a},
      Field{"transpose_b", &QuantizedMatMul::transpose_b},
      Field{"Tactivation", &QuantizedMatMul::Tactivation}.OneOf("qint8|quint8|qint32|qint16|"
                                                                "quint16")};

  Result<std::array<Shape, 3>> InferShape(const Shape& a, const Shape& b, const Shape& min_a,
                                          const Shape& max_a, const Shape& min_b,
                                          const Shape& max_b) const;
  Status ComputeCpu(CpuContext& context, const Tensor& a, const Tensor& b, float min_a, float max_a,
                    float min_b, float max_b, Tensor& out, Tensor& min_out, Tensor& max_out) const;
};

struct QuantizedConv2D {
  static constexpr auto kName = "QuantizedConv2D";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 200;
  std::vector<int64_t> strides = {};
  std::string padding = {};
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  using Sig =
      Signature<In<"input", QuantizedNumber<"Tinput">>, In<"filter", QuantizedNumber<"Tfilter">>,
                In<"min_input", float>, In<"max_input", float>, In<"min_filter", float>,
                In<"max_filter", float>, Out<"output", QuantizedNumberOr<"out_type", qint32>>,
                Out<"min_output", float>, Out<"max_output", float>>;
  static constexpr std::tuple kAttrs{
      Field{"strides", &QuantizedConv2D::strides}.Required(),
      Field{"padding", &QuantizedConv2D::padding}.Required().OneOf("SAME|VALID"),
      Field{"dilations", &QuantizedConv2D::dilations}};

  ConvRules Rules() const { return {2, false, strides, dilations, padding, {}, "NHWC"}; }
  Status CheckAttrs() const { return Rules().Check(); }
  Result<std::array<Shape, 3>> InferShape(const Shape& input, const Shape& filter,
                                          const Shape& min_input, const Shape& max_input,
                                          const Shape& min_filter, const Shape& max_filter) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& filter, float min_input,
                    float max_input, float min_filter, float max_filter, Tensor& output,
                    Tensor& min_output, Tensor& max_output) const;
};

}  // namespace penstock::ops
