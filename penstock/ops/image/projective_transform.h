#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"

namespace penstock::ops {

template <FixedString Name>
using TransformedType = TypeVar<Name, uint8_t, int32_t, int64_t, half, bfloat16, float, double>;

// Pixel (x, y) of the result is read at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), k = c0 x
// + c1 y + 1, where a row of `transforms` is a0 a1 a2 b0 b1 b2 c0 c1: one for each image or one for
// all.
struct ImageProjectiveTransformV2 {
  static constexpr auto kName = "ImageProjectiveTransformV2";
  static constexpr double kCost = 30;
  std::string interpolation;
  std::string fill_mode = "CONSTANT";
  using Sig =
      Signature<In<"images", TransformedType<"dtype">>, In<"transforms", float>,
                In<"output_shape", int32_t>, Out<"transformed_images", TransformedType<"dtype">>>;
  static constexpr std::tuple kAttrs{
      Field{"interpolation", &ImageProjectiveTransformV2::interpolation}.Required(),
      Field{"fill_mode", &ImageProjectiveTransformV2::fill_mode}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& images, const Shape& transforms,
                           const Integers& output_shape) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& transforms,
                    const Tensor& output_shape, Tensor& transformed_images) const;
};

// With a value for what lies outside.
struct ImageProjectiveTransformV3 {
  static constexpr auto kName = "ImageProjectiveTransformV3";
  static constexpr double kCost = 30;
  std::string interpolation;
  std::string fill_mode = "CONSTANT";
  using Sig = Signature<In<"images", TransformedType<"dtype">>, In<"transforms", float>,
                        In<"output_shape", int32_t>, In<"fill_value", float>,
                        Out<"transformed_images", TransformedType<"dtype">>>;
  static constexpr std::tuple kAttrs{
      Field{"interpolation", &ImageProjectiveTransformV3::interpolation}.Required(),
      Field{"fill_mode", &ImageProjectiveTransformV3::fill_mode}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& images, const Shape& transforms,
                           const Integers& output_shape, const Shape& fill_value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& transforms,
                    const Tensor& output_shape, const Tensor& fill_value,
                    Tensor& transformed_images) const;
};

}  // namespace penstock::ops
