#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"

// Boxes [y1, x1, y2, x2], in parts of the height and width of the image that box_ind names, cut
// out and resized to one size.

namespace penstock::ops {

template <FixedString Name>
using CroppedType =
    TypeVar<Name, uint8_t, uint16_t, int8_t, int16_t, int32_t, int64_t, half, float, double>;

struct CropAndResize {
  static constexpr auto kName = "CropAndResize";
  static constexpr double kCost = 12;
  std::string method = "bilinear";
  float extrapolation_value = 0;
  using Sig = Signature<In<"image", CroppedType<"T">>, In<"boxes", float>, In<"box_ind", int32_t>,
                        In<"crop_size", int32_t>, Out<"crops", float>>;
  static constexpr std::tuple kAttrs{
      Field{"method", &CropAndResize::method}.OneOf("bilinear|nearest"),
      Field{"extrapolation_value", &CropAndResize::extrapolation_value}};

  Result<Shape> InferShape(const Shape& image, const Shape& boxes, const Shape& box_ind,
                           const Integers& crop_size) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& image, const Tensor& boxes,
                    const Tensor& box_ind, const Tensor& crop_size, Tensor& crops) const;
};

struct CropAndResizeGradImage {
  static constexpr auto kName = "CropAndResizeGradImage";
  static constexpr double kCost = 20;
  static constexpr bool kNoGradient = true;
  std::string method = "bilinear";
  using Sig =
      Signature<In<"grads", float>, In<"boxes", float>, In<"box_ind", int32_t>,
                In<"image_size", int32_t>, Out<"output", TypeVar<"T", float, half, double>>>;
  static constexpr std::tuple kAttrs{
      Field{"method", &CropAndResizeGradImage::method}.OneOf("bilinear|nearest")};

  Result<Shape> InferShape(const Shape& grads, const Shape& boxes, const Shape& box_ind,
                           const Integers& image_size) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& grads, const Tensor& boxes,
                    const Tensor& box_ind, const Tensor& image_size, Tensor& output) const;
};

struct CropAndResizeGradBoxes {
  static constexpr auto kName = "CropAndResizeGradBoxes";
  static constexpr double kCost = 1000;
  static constexpr bool kNoGradient = true;
  std::string method = "bilinear";
  using Sig = Signature<In<"grads", float>, In<"image", CroppedType<"T">>, In<"boxes", float>,
                        In<"box_ind", int32_t>, Out<"output", float>>;
  static constexpr std::tuple kAttrs{
      Field{"method", &CropAndResizeGradBoxes::method}.OneOf("bilinear")};

  Result<Shape> InferShape(const Shape& grads, const Shape& image, const Shape& boxes,
                           const Shape& box_ind) const;
  Status ComputeCpu(CpuContext& context, const Tensor& grads, const Tensor& image,
                    const Tensor& boxes, const Tensor& box_ind, Tensor& output) const;
};

}  // namespace penstock::ops
