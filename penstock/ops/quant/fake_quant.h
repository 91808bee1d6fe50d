#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"

// Floats rounded as if they were kept in a few bits between a minimum and a maximum, so that a
// network is trained with the error that quantising it will make. Gradients pass where the input
// was within the range; what is outside of it moves the range.

namespace penstock::ops {

struct FakeQuantBits {
  int64_t num_bits = 8;
  bool narrow_range = false;  // the lowest of the 2^num_bits values is not used
};
Status CheckFakeQuant(const FakeQuantBits& bits);

// The range that an attribute gives.
template <FixedString Name>
struct FakeQuantArgs {
  static constexpr const char* kName = Name.text;
  static constexpr double kCost = 4;
  float min = -6;
  float max = 6;
  int64_t num_bits = 8;
  bool narrow_range = false;
  static constexpr std::tuple kAttrs{Field{"min", &FakeQuantArgs::min},
                                     Field{"max", &FakeQuantArgs::max},
                                     Field{"num_bits", &FakeQuantArgs::num_bits},
                                     Field{"narrow_range", &FakeQuantArgs::narrow_range}};

  Status CheckAttrs() const {
    if (!(min < max))
      return InvalidArgument("min has to be smaller than max, was: {} >= {}", min, max);
    return CheckFakeQuant({num_bits, narrow_range});
  }
};

struct FakeQuantWithMinMaxArgs : FakeQuantArgs<"FakeQuantWithMinMaxArgs"> {
  using Sig = Signature<In<"inputs", float>, Out<"outputs", float>>;

  Result<Shape> InferShape(const Shape& inputs) const { return inputs; }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& inputs, Tensor& outputs) const;
};

struct FakeQuantWithMinMaxArgsGradient : FakeQuantArgs<"FakeQuantWithMinMaxArgsGradient"> {
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"gradients", float>, In<"inputs", float>, Out<"backprops", float>>;

  Result<Shape> InferShape(const Shape& gradients, const Shape& inputs) const {
    return MergeShapes(gradients, inputs);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& gradients, const Tensor& inputs,
                    Tensor& backprops) const;
};

// The range that inputs give: one for all, or one for each element of the last axis.
Status CheckFakeQuantRange(const Shape& inputs, const Shape& min, const Shape& max,
                           bool per_channel);
Status FakeQuantize(CpuContext& context, const FakeQuantBits& bits, const Tensor& inputs,
                    const Tensor& min, const Tensor& max, bool per_channel, Tensor& outputs);
Status FakeQuantizeGradient(CpuContext& context, const FakeQuantBits& bits, const Tensor& gradients,
                            const Tensor& inputs, const Tensor& min, const Tensor& max,
                            bool per_channel, std::span<Tensor* const> backprops);
void FakeQuantGradient(Gradients& g, std::string_view op, const FakeQuantBits& bits);

template <FixedString Name, FixedString GradientName, bool PerChannel>
struct FakeQuantVars {
  static constexpr const char* kName = Name.text;
  static constexpr double kCost = 4;
  int64_t num_bits = 8;
  bool narrow_range = false;
  using Sig =
      Signature<In<"inputs", float>, In<"min", float>, In<"max", float>, Out<"outputs", float>>;
  static constexpr std::tuple kAttrs{Field{"num_bits", &FakeQuantVars::num_bits},
                                     Field{"narrow_range", &FakeQuantVars::narrow_range}};

  Status CheckAttrs() const { return CheckFakeQuant({num_bits, narrow_range}); }
  Result<Shape> InferShape(const Shape& inputs, const Shape& min, const Shape& max) const {
    TRY(CheckFakeQuantRange(inputs, min, max, PerChannel));
    return inputs;
  }
  void Gradient(Gradients& g) const {
    FakeQuantGradient(g, GradientName.view(), {num_bits, narrow_range});
  }
  Status ComputeCpu(CpuContext& context, const Tensor& inputs, const Tensor& min, const Tensor& max,
                    Tensor& outputs) const {
    return FakeQuantize(context, {num_bits, narrow_range}, inputs, min, max, PerChannel, outputs);
  }
};

template <FixedString Name, bool PerChannel>
struct FakeQuantVarsGradient {
  static constexpr const char* kName = Name.text;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 4;
  int64_t num_bits = 8;
  bool narrow_range = false;
  using Sig = Signature<In<"gradients", float>, In<"inputs", float>, In<"min", float>,
                        In<"max", float>, Out<"backprops_wrt_input", float>,
                        Out<"backprop_wrt_min", float>, Out<"backprop_wrt_max", float>>;
  static constexpr std::tuple kAttrs{Field{"num_bits", &FakeQuantVarsGradient::num_bits},
                                     Field{"narrow_range", &FakeQuantVarsGradient::narrow_range}};

  Status CheckAttrs() const { return CheckFakeQuant({num_bits, narrow_range}); }
  Result<std::array<Shape, 3>> InferShape(const Shape& gradients, const Shape& inputs,
                                          const Shape& min, const Shape& max) const {
    TRY_ASSIGN(Shape shape, MergeShapes(gradients, inputs));
    TRY(CheckFakeQuantRange(shape, min, max, PerChannel));
    TRY_ASSIGN(Shape range, MergeShapes(min, max));
    return std::array<Shape, 3>{shape, range, range};
  }
  Status ComputeCpu(CpuContext& context, const Tensor& gradients, const Tensor& inputs,
                    const Tensor& min, const Tensor& max, Tensor& input_backprop,
                    Tensor& min_backprop, Tensor& max_backprop) const {
    Tensor* const backprops[] = {&input_backprop, &min_backprop, &max_backprop};
    return FakeQuantizeGradient(context, {num_bits, narrow_range}, gradients, inputs, min, max,
                                PerChannel, backprops);
  }
};

using FakeQuantWithMinMaxVars =
    FakeQuantVars<"FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsGradient", false>;
using FakeQuantWithMinMaxVarsPerChannel =
    FakeQuantVars<"FakeQuantWithMinMaxVarsPerChannel", "FakeQuantWithMinMaxVarsPerChannelGradient",
                  true>;
using FakeQuantWithMinMaxVarsGradient =
    FakeQuantVarsGradient<"FakeQuantWithMinMaxVarsGradient", false>;
using FakeQuantWithMinMaxVarsPerChannelGradient =
    FakeQuantVarsGradient<"FakeQuantWithMinMaxVarsPerChannelGradient", true>;

}  // namespace penstock::ops
