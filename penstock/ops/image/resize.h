#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"

// Images at another size. A pixel (y, x) of the result is read from the place (y, x) * scale of
// the original: scale is the quotient of the sizes, or of the sizes less one with align_corners.
// With half_pixel_centers places count from the middle of a pixel, not from its corner.

namespace penstock::ops {

template <FixedString Name>
using PixelType = TypeVar<Name, int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, half, float,
                          double, bfloat16>;

// A way to resize, with the types that its gradient has.
struct Bilinear {
  static constexpr auto kName = "ResizeBilinear";
  static constexpr auto kGradientName = "ResizeBilinearGrad";
  template <FixedString Name>
  using GradientType = TypeVar<Name, float, bfloat16, half, double>;
};
struct Bicubic {
  static constexpr auto kName = "ResizeBicubic";
  static constexpr auto kGradientName = "ResizeBicubicGrad";
  template <FixedString Name>
  using GradientType = TypeVar<Name, float, double>;
};

template <class Method>
struct ResizeToFloat {
  static constexpr auto kName = Method::kName;
  static constexpr double kCost = 10;
  bool align_corners = false;
  bool half_pixel_centers = false;
  using Sig =
      Signature<In<"images", PixelType<"T">>, In<"size", int32_t>, Out<"resized_images", float>>;
  static constexpr std::tuple kAttrs{
      Field{"align_corners", &ResizeToFloat::align_corners},
      Field{"half_pixel_centers", &ResizeToFloat::half_pixel_centers}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& images, const Integers& size) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& size,
                    Tensor& resized_images) const;
};
using ResizeBilinear = ResizeToFloat<Bilinear>;
using ResizeBicubic = ResizeToFloat<Bicubic>;

template <class Method>
struct ResizeFromFloatGrad {
  static constexpr auto kName = Method::kGradientName;
  static constexpr double kCost = 20;
  bool align_corners = false;
  bool half_pixel_centers = false;
  using Number = typename Method::template GradientType<"T">;
  using Sig = Signature<In<"grads", float>, In<"original_image", Number>, Out<"output", Number>>;
  static constexpr std::tuple kAttrs{
      Field{"align_corners", &ResizeFromFloatGrad::align_corners},
      Field{"half_pixel_centers", &ResizeFromFloatGrad::half_pixel_centers}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& grads, const Shape& original_image) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& grads, const Tensor& original_image,
                    Tensor& output) const;
};
using ResizeBilinearGrad = ResizeFromFloatGrad<Bilinear>;
using ResizeBicubicGrad = ResizeFromFloatGrad<Bicubic>;

struct ResizeNearestNeighbor {
  static constexpr auto kName = "ResizeNearestNeighbor";
  static constexpr double kCost = 4;
  bool align_corners = false;
  bool half_pixel_centers = false;
  using Sig = Signature<In<"images", PixelType<"T">>, In<"size", int32_t>,
                        Out<"resized_images", PixelType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"align_corners", &ResizeNearestNeighbor::align_corners},
      Field{"half_pixel_centers", &ResizeNearestNeighbor::half_pixel_centers}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& images, const Integers& size) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& size,
                    Tensor& resized_images) const;
};

struct ResizeNearestNeighborGrad {
  static constexpr auto kName = "ResizeNearestNeighborGrad";
  static constexpr double kCost = 8;
  bool align_corners = false;
  bool half_pixel_centers = false;
  using Number = TypeVar<"T", uint8_t, int8_t, int32_t, half, float, double, bfloat16>;
  using Sig = Signature<In<"grads", Number>, In<"size", int32_t>, Out<"output", Number>>;
  static constexpr std::tuple kAttrs{
      Field{"align_corners", &ResizeNearestNeighborGrad::align_corners},
      Field{"half_pixel_centers", &ResizeNearestNeighborGrad::half_pixel_centers}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& grads, const Integers& size) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& grads, const Tensor& size,
                    Tensor& output) const;
};

// Each pixel is the mean of the area that it covers.
struct ResizeArea {
  static constexpr auto kName = "ResizeArea";
  static constexpr double kCost = 30;
  static constexpr bool kNoGradient = true;
  bool align_corners = false;
  using Sig =
      Signature<In<"images", PixelType<"T">>, In<"size", int32_t>, Out<"resized_images", float>>;
  static constexpr std::tuple kAttrs{Field{"align_corners", &ResizeArea::align_corners}};

  Result<Shape> InferShape(const Shape& images, const Integers& size) const;
  Status ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& size,
                    Tensor& resized_images) const;
};

}  // namespace penstock::ops
