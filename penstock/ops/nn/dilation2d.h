#pragma once

#include <string>
#include <vector>

#include "penstock/ops/nn/conv_geometry.h"
#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Grey-scale dilation: a convolution of images [batch, height, width, depth] with a filter [height,
// width, depth] in which products are sums and sums are maxima.

namespace penstock::ops {

struct Dilation2DAttributes {
  std::vector<int64_t> strides = {};
  std::vector<int64_t> rates = {};
  std::string padding = {};

  static constexpr std::tuple kAttrs{
      Field{"strides", &Dilation2DAttributes::strides}.Required().Min(4),
      Field{"rates", &Dilation2DAttributes::rates}.Required().Min(4),
      Field{"padding", &Dilation2DAttributes::padding}.Required().OneOf("SAME|VALID")};
  ConvRules Rules() const { return {2, true, strides, rates, padding, {}, "NHWC"}; }
  Status CheckAttrs() const { return Rules().Check(); }
};

// The filter of a depth-wise convolution of the same geometry.
Result<Shape> DepthwiseFilter(const Shape& filter);

struct Dilation2D : Dilation2DAttributes {
  static constexpr auto kName = "Dilation2D";
  static constexpr double kCost = 50;
  using Num = RealNumberType<"T">;
  using Sig = Signature<In<"input", Num>, In<"filter", Num>, Out<"output", Num>>;

  Result<Shape> InferShape(const Shape& input, const Shape& filter) const {
    TRY_ASSIGN(const Shape taps, DepthwiseFilter(filter));
    TRY_ASSIGN(ConvGeometry geometry, ResolveConv(Rules(), input, taps));
    return geometry.output;
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& filter,
                    Tensor& output) const;
};

// Each element of the output's gradient goes to the input, or the tap, that was the maximum.
struct Dilation2DBackpropInput : Dilation2DAttributes {
  static constexpr auto kName = "Dilation2DBackpropInput";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 50;
  using Num = RealNumberType<"T">;
  using Sig = Signature<In<"input", Num>, In<"filter", Num>, In<"out_backprop", Num>,
                        Out<"in_backprop", Num>>;

  Result<Shape> InferShape(const Shape& input, const Shape& filter, const Shape& dy) const {
    TRY_ASSIGN(const Shape taps, DepthwiseFilter(filter));
    TRY(ResolveConv(Rules(), input, taps, dy).status());
    return input;
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& filter,
                    const Tensor& dy, Tensor& in_backprop) const;
};

struct Dilation2DBackpropFilter : Dilation2DAttributes {
  static constexpr auto kName = "Dilation2DBackpropFilter";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 5000;
  using Num = RealNumberType<"T">;
  using Sig = Signature<In<"input", Num>, In<"filter", Num>, In<"out_backprop", Num>,
                        Out<"filter_backprop", Num>>;

  Result<Shape> InferShape(const Shape& input, const Shape& filter, const Shape& dy) const {
    TRY_ASSIGN(const Shape taps, DepthwiseFilter(filter));
    TRY(ResolveConv(Rules(), input, taps, dy).status());
    return filter;
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& filter,
                    const Tensor& dy, Tensor& filter_backprop) const;
};

}  // namespace penstock::ops
