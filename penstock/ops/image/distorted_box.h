#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/random/stream.h"

// A random part of an image that covers enough of one of its boxes, for Slice (begin, size) and for
// drawing (bboxes): the whole image when none was found in max_attempts.

namespace penstock::ops {

template <FixedString Name>
using ImageSizeType = TypeVar<Name, uint8_t, int8_t, int16_t, int32_t, int64_t>;

// What all forms take. Ranges are a least and a most; areas are parts of the image's.
struct DistortedBoxAttrs {
  std::vector<float> aspect_ratio_range{0.75f, 1.33f};
  std::vector<float> area_range{0.05f, 1.0f};
  int64_t max_attempts = 100;
  bool use_image_if_no_bounding_boxes = false;
  static constexpr std::tuple kBoxAttrs{
      Field{"aspect_ratio_range", &DistortedBoxAttrs::aspect_ratio_range},
      Field{"area_range", &DistortedBoxAttrs::area_range},
      Field{"max_attempts", &DistortedBoxAttrs::max_attempts},
      Field{"use_image_if_no_bounding_boxes", &DistortedBoxAttrs::use_image_if_no_bounding_boxes}};

  Status CheckAttrs() const;
};

struct SampleDistortedBoundingBox : DistortedBoxAttrs {
  static constexpr auto kName = "SampleDistortedBoundingBox";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  int64_t seed = 0;
  int64_t seed2 = 0;
  float min_object_covered = 0.1f;
  using Sig = Signature<In<"image_size", ImageSizeType<"T">>, In<"bounding_boxes", float>,
                        Out<"begin", ImageSizeType<"T">>, Out<"size", ImageSizeType<"T">>,
                        Out<"bboxes", float>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      std::tuple{Field{"seed", &SampleDistortedBoundingBox::seed},
                 Field{"seed2", &SampleDistortedBoundingBox::seed2},
                 Field{"min_object_covered", &SampleDistortedBoundingBox::min_object_covered}},
      kBoxAttrs);

  Result<std::array<Shape, 3>> InferShape(const Shape& image_size,
                                          const Shape& bounding_boxes) const;
  Status Draw(CpuContext& context, NodeStream& node) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeDrawingKernel<SampleDistortedBoundingBox>(request);
  }
};

struct SampleDistortedBoundingBoxV2 : DistortedBoxAttrs {
  static constexpr auto kName = "SampleDistortedBoundingBoxV2";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  int64_t seed = 0;
  int64_t seed2 = 0;
  using Sig = Signature<In<"image_size", ImageSizeType<"T">>, In<"bounding_boxes", float>,
                        In<"min_object_covered", float>, Out<"begin", ImageSizeType<"T">>,
                        Out<"size", ImageSizeType<"T">>, Out<"bboxes", float>>;
  static constexpr std::tuple kAttrs =
      std::tuple_cat(std::tuple{Field{"seed", &SampleDistortedBoundingBoxV2::seed},
                                Field{"seed2", &SampleDistortedBoundingBoxV2::seed2}},
                     kBoxAttrs);

  Result<std::array<Shape, 3>> InferShape(const Shape& image_size, const Shape& bounding_boxes,
                                          const Shape& min_object_covered) const;
  Status Draw(CpuContext& context, NodeStream& node) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeDrawingKernel<SampleDistortedBoundingBoxV2>(request);
  }
};

struct StatelessSampleDistortedBoundingBox : DistortedBoxAttrs {
  static constexpr auto kName = "StatelessSampleDistortedBoundingBox";
  static constexpr bool kNoGradient = true;
  using Seed = TypeVar<"Tseed", int32_t, int64_t>;
  using Sig =
      Signature<In<"image_size", ImageSizeType<"T">>, In<"bounding_boxes", float>,
                In<"min_object_covered", float>, In<"seed", Seed>, Out<"begin", ImageSizeType<"T">>,
                Out<"size", ImageSizeType<"T">>, Out<"bboxes", float>>;
  static constexpr auto kAttrs = kBoxAttrs;

  Result<std::array<Shape, 3>> InferShape(const Shape& image_size, const Shape& bounding_boxes,
                                          const Shape& min_object_covered, const Shape& seed) const;
  Status ComputeCpu(CpuContext& context, const Tensor& image_size, const Tensor& bounding_boxes,
                    const Tensor& min_object_covered, const Tensor& seed, Tensor& begin,
                    Tensor& size, Tensor& bboxes) const;
};

}  // namespace penstock::ops
