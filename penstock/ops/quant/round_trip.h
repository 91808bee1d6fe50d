#pragma once

#include <array>
#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Floats quantised and read back at once: what they would be after a round trip. The range is
// given, or that of the values; for all of them, or for each channel of an axis.

namespace penstock::ops {

struct RoundTrip {
  bool signed_input = true;
  int64_t num_bits = 8;
  bool range_given = false;
  bool half_up = false;  // or to even
  bool narrow_range = false;
  int64_t axis = -1;
};
Status CheckRoundTrip(const RoundTrip& trip);
Status CheckRoundTripShapes(const RoundTrip& trip, const Shape& input, const Shape& min,
                            const Shape& max);
Status RunRoundTrip(CpuContext& context, const RoundTrip& trip, const Tensor& input,
                    const Tensor& min, const Tensor& max, Tensor& output);

// Gradients pass straight through (V2), or where the input is in range (V4).
template <FixedString Name, bool IsV4>
struct QuantizeAndDequantizeOp {
  static constexpr const char* kName = Name.text;
  static constexpr double kCost = 4;
  bool signed_input = true;
  int64_t num_bits = 8;
  bool range_given = false;
  std::string round_mode = "HALF_TO_EVEN";
  bool narrow_range = false;
  int64_t axis = -1;
  using Self = QuantizeAndDequantizeOp;
  using Real = FloatType<"T">;
  using Sig = Signature<In<"input", Real>, In<"input_min", Real>, In<"input_max", Real>,
                        Out<"output", Real>>;
  static constexpr std::tuple kAttrs{
      Field{"signed_input", &Self::signed_input},
      Field{"num_bits", &Self::num_bits},
      Field{"range_given", &Self::range_given},
      Field{"round_mode", &Self::round_mode}.OneOf("HALF_TO_EVEN|HALF_UP"),
      Field{"narrow_range", &Self::narrow_range},
      Field{"axis", &Self::axis}};

  RoundTrip Trip() const {
    return {signed_input, num_bits, range_given, round_mode == "HALF_UP", narrow_range, axis};
  }
  Status CheckAttrs() const { return CheckRoundTrip(Trip()); }
  Result<Shape> InferShape(const Shape& input, const Shape& min, const Shape& max) const {
    TRY(CheckRoundTripShapes(Trip(), input, min, max));
    return input;
  }
  void Gradient(Gradients& g) const {
    if constexpr (IsV4) {
      const Expr first =
          g.scope().Add("QuantizeAndDequantizeV4Grad", {g.dy(), g.input(0), g.input(1), g.input(2)},
                        {{"axis", axis}});
      for (int i = 0; i < 3; ++i) g.Set(i, first.Output(i));
    } else {
      g.Set(0, g.dy());
    }
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& min, const Tensor& max,
                    Tensor& output) const {
    return RunRoundTrip(context, Trip(), input, min, max, output);
  }
};

using QuantizeAndDequantizeV2 = QuantizeAndDequantizeOp<"QuantizeAndDequantizeV2", false>;
using QuantizeAndDequantizeV4 = QuantizeAndDequantizeOp<"QuantizeAndDequantizeV4", true>;

// The number of bits is an input.
struct QuantizeAndDequantizeV3 {
  static constexpr auto kName = "QuantizeAndDequantizeV3";
  static constexpr double kCost = 4;
  bool signed_input = true;
  bool range_given = true;
  bool narrow_range = false;
  int64_t axis = -1;
  using Self = QuantizeAndDequantizeV3;
  using Real = FloatType<"T">;
  using Sig = Signature<In<"input", Real>, In<"input_min", Real>, In<"input_max", Real>,
                        In<"num_bits", int32_t>, Out<"output", Real>>;
  static constexpr std::tuple kAttrs{
      Field{"signed_input", &Self::signed_input}, Field{"range_given", &Self::range_given},
      Field{"narrow_range", &Self::narrow_range}, Field{"axis", &Self::axis}};

  Result<Shape> InferShape(const Shape& input, const Shape& min, const Shape& max,
                           const Shape& num_bits) const;
  void Gradient(Gradients& g) const { g.Set(0, g.dy()); }
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& min, const Tensor& max,
                    const Tensor& num_bits, Tensor& output) const;
};

struct QuantizeAndDequantizeV4Grad {
  static constexpr auto kName = "QuantizeAndDequantizeV4Grad";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 2;
  int64_t axis = -1;
  using Real = FloatType<"T">;
  using Sig = Signature<In<"gradients", Real>, In<"input", Real>, In<"input_min", Real>,
                        In<"input_max", Real>, Out<"input_backprop", Real>,
                        Out<"input_min_backprop", Real>, Out<"input_max_backprop", Real>>;
  static constexpr std::tuple kAttrs{Field{"axis", &QuantizeAndDequantizeV4Grad::axis}};

  Result<std::array<Shape, 3>> InferShape(const Shape& gradients, const Shape& input,
                                          const Shape& min, const Shape& max) const;
  Status ComputeCpu(CpuContext& context, const Tensor& gradients, const Tensor& input,
                    const Tensor& min, const Tensor& max, Tensor& input_backprop,
                    Tensor& min_backprop, Tensor& max_backprop) const;
};

}  // namespace penstock::ops
