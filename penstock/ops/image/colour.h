#pragma once

#include "penstock/ops/op_kernel.h"

// Colours: the last axis of the images is red, green and blue, or hue, saturation and value, all
// in [0, 1].

namespace penstock::ops {

template <FixedString Name>
using ColourType = TypeVarOr<Name, float, half, bfloat16, float, double>;
template <FixedString Name>
using AdjustedType = TypeVarOr<Name, float, half, float>;

struct RGBToHSV {
  static constexpr auto kName = "RGBToHSV";
  static constexpr double kCost = 10;
  using Sig = Signature<In<"images", ColourType<"T">>, Out<"output", ColourType<"T">>>;

  Result<Shape> InferShape(const Shape& images) const;
  void Gradient(Gradients& g) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& images, Tensor& output) const;
};

struct HSVToRGB {
  static constexpr auto kName = "HSVToRGB";
  static constexpr double kCost = 10;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"images", ColourType<"T">>, Out<"output", ColourType<"T">>>;

  Result<Shape> InferShape(const Shape& images) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& images, Tensor& output) const;
};

// Turns the hue by `delta` of a circle.
struct AdjustHue {
  static constexpr auto kName = "AdjustHue";
  static constexpr double kCost = 10;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"images", AdjustedType<"T">>, In<"delta", float>,
                        Out<"output", AdjustedType<"T">>>;
  using CpuTypes = Types<float>;  // stock TensorFlow's CPU has no other

  Result<Shape> InferShape(const Shape& images, const Shape& delta) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& delta,
                    Tensor& output) const;
};

// Multiplies the saturation.
struct AdjustSaturation {
  static constexpr auto kName = "AdjustSaturation";
  static constexpr double kCost = 10;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"images", AdjustedType<"T">>, In<"scale", float>,
                        Out<"output", AdjustedType<"T">>>;
  using CpuTypes = Types<float>;

  Result<Shape> InferShape(const Shape& images, const Shape& scale) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& scale,
                    Tensor& output) const;
};

// Multiplies the distance of each pixel from the mean of its channel.
struct AdjustContrastv2 {
  static constexpr auto kName = "AdjustContrastv2";
  static constexpr double kCost = 4;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"images", AdjustedType<"T">>, In<"contrast_factor", float>,
                        Out<"output", AdjustedType<"T">>>;
  using CpuTypes = Types<float>;

  Result<Shape> InferShape(const Shape& images, const Shape& contrast_factor) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& contrast_factor,
                    Tensor& output) const;
};

}  // namespace penstock::ops
