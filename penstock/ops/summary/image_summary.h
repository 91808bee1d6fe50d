#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"

namespace penstock::ops {

// Red and opaque: where a pixel is not a number.
Tensor DefaultBadColor();

// The first images of a batch [B, height, width, channels] as PNG files, under the tags
// "tag/image/0" and so on. Bytes are taken as they are; other numbers are scaled, image by image,
// to 0 ... 255, or, when there are negative ones, so that 0 is grey.
struct ImageSummary {
  static constexpr auto kName = "ImageSummary";
  static constexpr bool kNoGradient = true;
  int64_t max_images = 3;
  Tensor bad_color = DefaultBadColor();
  using Sig = Signature<In<"tag", std::string>,
                        In<"tensor", TypeVarOr<"T", float, uint8_t, float, half, double>>,
                        Out<"summary", std::string>>;
  static constexpr std::tuple kAttrs{Field{"max_images", &ImageSummary::max_images}.Min(1),
                                     Field{"bad_color", &ImageSummary::bad_color}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& tag, const Shape& tensor) const;
  Status ComputeCpu(CpuContext& context, const Tensor& tag, const Tensor& tensor,
                    Tensor& summary) const;
};

}  // namespace penstock::ops
