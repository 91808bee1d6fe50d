#pragma once

#include "penstock/ops/op_kernel.h"

// Images with the outlines of boxes [y1, x1, y2, x2], in parts of their height and width, drawn
// upon them.

namespace penstock::ops {

template <FixedString Name>
using CanvasType = TypeVarOr<Name, float, float, half>;

// In ten colours, by turns.
struct DrawBoundingBoxes {
  static constexpr auto kName = "DrawBoundingBoxes";
  static constexpr bool kNoGradient = true;
  using Sig =
      Signature<In<"images", CanvasType<"T">>, In<"boxes", float>, Out<"output", CanvasType<"T">>>;

  Result<Shape> InferShape(const Shape& images, const Shape& boxes) const;
  Status ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& boxes,
                    Tensor& output) const;
};

// In the colours given, by turns; in those of the first form when there are none.
struct DrawBoundingBoxesV2 {
  static constexpr auto kName = "DrawBoundingBoxesV2";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"images", CanvasType<"T">>, In<"boxes", float>, In<"colors", float>,
                        Out<"output", CanvasType<"T">>>;

  Result<Shape> InferShape(const Shape& images, const Shape& boxes, const Shape& colors) const;
  Status ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& boxes,
                    const Tensor& colors, Tensor& output) const;
};

}  // namespace penstock::ops
