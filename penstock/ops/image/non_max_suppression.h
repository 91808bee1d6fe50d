#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"

// Picks boxes [y1, x1, y2, x2] by score, the greatest first, and passes over those that overlap
// one picked before: by more than iou_threshold of their union, or, with a soft sigma, lowers
// their scores by exp(-overlap^2 / (2 sigma)).

namespace penstock::ops {

template <FixedString Name>
using BoxType = TypeVarOr<Name, float, half, float>;

struct NonMaxSuppression {
  static constexpr auto kName = "NonMaxSuppression";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 1000;
  float iou_threshold = 0.5f;
  using Sig = Signature<In<"boxes", float>, In<"scores", float>, In<"max_output_size", int32_t>,
                        Out<"selected_indices", int32_t>>;
  static constexpr std::tuple kAttrs{Field{"iou_threshold", &NonMaxSuppression::iou_threshold}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& boxes, const Shape& scores,
                           const Integers& max_output_size) const;
  Status ComputeCpu(CpuContext& context, const Tensor& boxes, const Tensor& scores,
                    const Tensor& max_output_size) const;
};

struct NonMaxSuppressionV2 {
  static constexpr auto kName = "NonMaxSuppressionV2";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 1000;
  using Sig = Signature<In<"boxes", BoxType<"T">>, In<"scores", BoxType<"T">>,
                        In<"max_output_size", int32_t>, In<"iou_threshold", BoxType<"T_threshold">>,
                        Out<"selected_indices", int32_t>>;

  Result<Shape> InferShape(const Shape& boxes, const Shape& scores, const Integers& max_output_size,
                           const Known& iou_threshold) const;
  Status ComputeCpu(CpuContext& context, const Tensor& boxes, const Tensor& scores,
                    const Tensor& max_output_size, const Tensor& iou_threshold) const;
};

struct NonMaxSuppressionV3 {
  static constexpr auto kName = "NonMaxSuppressionV3";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 1000;
  using Sig =
      Signature<In<"boxes", BoxType<"T">>, In<"scores", BoxType<"T">>,
                In<"max_output_size", int32_t>, In<"iou_threshold", BoxType<"T_threshold">>,
                In<"score_threshold", BoxType<"T_threshold">>, Out<"selected_indices", int32_t>>;

  Result<Shape> InferShape(const Shape& boxes, const Shape& scores, const Integers& max_output_size,
                           const Known& iou_threshold, const Shape& score_threshold) const;
  Status ComputeCpu(CpuContext& context, const Tensor& boxes, const Tensor& scores,
                    const Tensor& max_output_size, const Tensor& iou_threshold,
                    const Tensor& score_threshold) const;
};

struct NonMaxSuppressionV4 {
  static constexpr auto kName = "NonMaxSuppressionV4";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 1000;
  bool pad_to_max_output_size = false;
  using Sig = Signature<In<"boxes", BoxType<"T">>, In<"scores", BoxType<"T">>,
                        In<"max_output_size", int32_t>, In<"iou_threshold", BoxType<"T_threshold">>,
                        In<"score_threshold", BoxType<"T_threshold">>,
                        Out<"selected_indices", int32_t>, Out<"valid_outputs", int32_t>>;
  static constexpr std::tuple kAttrs{
      Field{"pad_to_max_output_size", &NonMaxSuppressionV4::pad_to_max_output_size}};

  Result<std::array<Shape, 2>> InferShape(const Shape& boxes, const Shape& scores,
                                          const Integers& max_output_size,
                                          const Known& iou_threshold,
                                          const Shape& score_threshold) const;
  Status ComputeCpu(CpuContext& context, const Tensor& boxes, const Tensor& scores,
                    const Tensor& max_output_size, const Tensor& iou_threshold,
                    const Tensor& score_threshold) const;
};

struct NonMaxSuppressionV5 {
  static constexpr auto kName = "NonMaxSuppressionV5";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 1000;
  bool pad_to_max_output_size = false;
  using Sig = Signature<In<"boxes", BoxType<"T">>, In<"scores", BoxType<"T">>,
                        In<"max_output_size", int32_t>, In<"iou_threshold", BoxType<"T">>,
                        In<"score_threshold", BoxType<"T">>, In<"soft_nms_sigma", BoxType<"T">>,
                        Out<"selected_indices", int32_t>, Out<"selected_scores", BoxType<"T">>,
                        Out<"valid_outputs", int32_t>>;
  static constexpr std::tuple kAttrs{
      Field{"pad_to_max_output_size", &NonMaxSuppressionV5::pad_to_max_output_size}};

  Result<std::array<Shape, 3>> InferShape(const Shape& boxes, const Shape& scores,
                                          const Integers& max_output_size,
                                          const Known& iou_threshold, const Shape& score_threshold,
                                          const Known& soft_nms_sigma) const;
  Status ComputeCpu(CpuContext& context, const Tensor& boxes, const Tensor& scores,
                    const Tensor& max_output_size, const Tensor& iou_threshold,
                    const Tensor& score_threshold, const Tensor& soft_nms_sigma) const;
};

// The overlap of each pair is given.
struct NonMaxSuppressionWithOverlaps {
  static constexpr auto kName = "NonMaxSuppressionWithOverlaps";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 1000;
  using Sig = Signature<In<"overlaps", float>, In<"scores", float>, In<"max_output_size", int32_t>,
                        In<"overlap_threshold", float>, In<"score_threshold", float>,
                        Out<"selected_indices", int32_t>>;

  Result<Shape> InferShape(const Shape& overlaps, const Shape& scores,
                           const Integers& max_output_size, const Shape& overlap_threshold,
                           const Shape& score_threshold) const;
  Status ComputeCpu(CpuContext& context, const Tensor& overlaps, const Tensor& scores,
                    const Tensor& max_output_size, const Tensor& overlap_threshold,
                    const Tensor& score_threshold) const;
};

// For each image of a batch: picks within each class, then the best of all classes.
struct CombinedNonMaxSuppression {
  static constexpr auto kName = "CombinedNonMaxSuppression";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 1000;
  bool pad_per_class = false;
  bool clip_boxes = true;
  using Sig =
      Signature<In<"boxes", float>, In<"scores", float>, In<"max_output_size_per_class", int32_t>,
                In<"max_total_size", int32_t>, In<"iou_threshold", float>,
                In<"score_threshold", float>, Out<"nmsed_boxes", float>, Out<"nmsed_scores", float>,
                Out<"nmsed_classes", float>, Out<"valid_detections", int32_t>>;
  static constexpr std::tuple kAttrs{
      Field{"pad_per_class", &CombinedNonMaxSuppression::pad_per_class},
      Field{"clip_boxes", &CombinedNonMaxSuppression::clip_boxes}};

  Result<std::array<Shape, 4>> InferShape(const Shape& boxes, const Shape& scores,
                                          const Integers& max_output_size_per_class,
                                          const Integers& max_total_size,
                                          const Known& iou_threshold,
                                          const Shape& score_threshold) const;
  Status ComputeCpu(CpuContext& context, const Tensor& boxes, const Tensor& scores,
                    const Tensor& max_output_size_per_class, const Tensor& max_total_size,
                    const Tensor& iou_threshold, const Tensor& score_threshold, Tensor& nmsed_boxes,
                    Tensor& nmsed_scores, Tensor& nmsed_classes, Tensor& valid_detections) const;
};

}  // namespace penstock::ops
