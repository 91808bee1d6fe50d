#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/image/resize.h"
#include "penstock/ops/op_kernel.h"

namespace penstock::ops {

// Resamples images: a place p of the original goes to p * scale + translation. kernel_type weighs
// the pixels around a place; antialias widens it where the image shrinks.
struct ScaleAndTranslate {
  static constexpr auto kName = "ScaleAndTranslate";
  static constexpr double kCost = 30;
  std::string kernel_type = "lanczos3";
  bool antialias = true;
  using Sig = Signature<In<"images", PixelType<"T">>, In<"size", int32_t>, In<"scale", float>,
                        In<"translation", float>, Out<"resized_images", float>>;
  static constexpr std::tuple kAttrs{Field{"kernel_type", &ScaleAndTranslate::kernel_type},
                                     Field{"antialias", &ScaleAndTranslate::antialias}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& images, const Integers& size, const Known& scale,
                           const Known& translation) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& size,
                    const Tensor& scale, const Tensor& translation, Tensor& resized_images) const;
};

struct ScaleAndTranslateGrad {
  static constexpr auto kName = "ScaleAndTranslateGrad";
  static constexpr double kCost = 30;
  static constexpr bool kNoGradient = true;
  std::string kernel_type = "lanczos3";
  bool antialias = true;
  using Number = TypeVar<"T", float>;
  using Sig = Signature<In<"grads", Number>, In<"original_image", Number>, In<"scale", float>,
                        In<"translation", float>, Out<"output", Number>>;
  static constexpr std::tuple kAttrs{Field{"kernel_type", &ScaleAndTranslateGrad::kernel_type},
                                     Field{"antialias", &ScaleAndTranslateGrad::antialias}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& grads, const Shape& original_image, const Known& scale,
                           const Known& translation) const;
  Status ComputeCpu(CpuContext& context, const Tensor& grads, const Tensor& original_image,
                    const Tensor& scale, const Tensor& translation, Tensor& output) const;
};

}  // namespace penstock::ops
