#pragma once

#include <array>
#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"

// Floats as integers of few bits between a minimum and a maximum, back, and from one range into
// another.

namespace penstock::ops {

template <FixedString Name>
using QuantisedType = TypeVar<Name, qint8, quint8, qint32, qint16, quint16>;

// How integers stand for floats: all of the range (MIN_COMBINED), all of it with 0 on a step
// (MIN_FIRST), or multiples of one scale (SCALED).
struct QuantizeV2 {
  static constexpr auto kName = "QuantizeV2";
  static constexpr double kCost = 4;
  static constexpr bool kNoGradient = true;
  std::string mode = "MIN_COMBINED";
  std::string round_mode = "HALF_AWAY_FROM_ZERO";
  bool narrow_range = false;
  int64_t axis = -1;
  float ensure_minimum_range = 0.01f;
  using Sig = Signature<In<"input", float>, In<"min_range", float>, In<"max_range", float>,
                        Out<"output", QuantisedType<"T">>, Out<"output_min", float>,
                        Out<"output_max", float>>;
  static constexpr std::tuple kAttrs{
      Field{"mode", &QuantizeV2::mode}.OneOf("MIN_COMBINED|MIN_FIRST|SCALED"),
      Field{"round_mode", &QuantizeV2::round_mode}.OneOf("HALF_AWAY_FROM_ZERO|HALF_TO_EVEN"),
      Field{"narrow_range", &QuantizeV2::narrow_range}, Field{"axis", &QuantizeV2::axis},
      Field{"ensure_minimum_range", &QuantizeV2::ensure_minimum_range}};

  Status CheckAttrs() const;
  Result<std::array<Shape, 3>> InferShape(const Shape& input, const Shape& min_range,
                                          const Shape& max_range) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& min_range,
                    const Tensor& max_range, Tensor& output, Tensor& output_min,
                    Tensor& output_max) const;
};

struct Dequantize {
  static constexpr auto kName = "Dequantize";
  static constexpr double kCost = 2;
  static constexpr bool kNoGradient = true;
  std::string mode = "MIN_COMBINED";
  bool narrow_range = false;
  int64_t axis = -1;
  using Sig =
      Signature<In<"input", QuantisedType<"T">>, In<"min_range", float>, In<"max_range", float>,
                Out<"output", TypeVarOr<"dtype", float, bfloat16, float>>>;
  static constexpr std::tuple kAttrs{
      Field{"mode", &Dequantize::mode}.OneOf("MIN_COMBINED|MIN_FIRST|SCALED"),
      Field{"narrow_range", &Dequantize::narrow_range}, Field{"axis", &Dequantize::axis}};

  Result<Shape> InferShape(const Shape& input, const Shape& min_range,
                           const Shape& max_range) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& min_range,
                    const Tensor& max_range, Tensor& output) const;
};

// The range that the values of a tensor really take.
struct RequantizationRange {
  static constexpr auto kName = "RequantizationRange";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input", QuantisedType<"Tinput">>, In<"input_min", float>,
                        In<"input_max", float>, Out<"output_min", float>, Out<"output_max", float>>;

  Result<std::array<Shape, 2>> InferShape(const Shape& input, const Shape& input_min,
                                          const Shape& input_max) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& input_min,
                    const Tensor& input_max, Tensor& output_min, Tensor& output_max) const;
};

// Into a given range.
struct Requantize {
  static constexpr auto kName = "Requantize";
  static constexpr double kCost = 4;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input", QuantisedType<"Tinput">>, In<"input_min", float>,
                        In<"input_max", float>, In<"requested_output_min", float>,
                        In<"requested_output_max", float>, Out<"output", QuantisedType<"out_type">>,
                        Out<"output_min", float>, Out<"output_max", float>>;

  Result<std::array<Shape, 3>> InferShape(const Shape& input, const Shape& input_min,
                                          const Shape& input_max, const Shape& requested_min,
                                          const Shape& requested_max) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& input_min,
                    const Tensor& input_max, const Tensor& requested_min,
                    const Tensor& requested_max, Tensor& output, Tensor& output_min,
                    Tensor& output_max) const;
};

// Into the range that the values take.
struct QuantizeDownAndShrinkRange {
  static constexpr auto kName = "QuantizeDownAndShrinkRange";
  static constexpr double kCost = 4;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input", QuantisedType<"Tinput">>, In<"input_min", float>,
                        In<"input_max", float>, Out<"output", QuantisedType<"out_type">>,
                        Out<"output_min", float>, Out<"output_max", float>>;

  Result<std::array<Shape, 3>> InferShape(const Shape& input, const Shape& input_min,
                                          const Shape& input_max) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& input_min,
                    const Tensor& input_max, Tensor& output, Tensor& output_min,
                    Tensor& output_max) const;
};

}  // namespace penstock::ops
