#include "penstock/ops/image/colour.h"
#include "penstock/ops/image/distorted_box.h"
#include "penstock/ops/image/draw_boxes.h"
#include "penstock/ops/image/glimpse.h"
#include "penstock/ops/image/non_max_suppression.h"
#include "penstock/ops/image/patches.h"
#include "penstock/ops/image/space_to_depth.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

Value Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }
Value Int(int32_t value) { return Scalar<int32_t>(value); }

const OpRows kLayoutRows{
    Row(SpaceToDepth{.block_size = 2})
        .Inputs(Values<int8_t>({1, 2, 2, 1}, {1, 2, 3, 4}))
        .Expect(Values<int8_t>({1, 1, 1, 4}, {1, 2, 3, 4})),
    Row(SpaceToDepth{.block_size = 2}).Inputs(Uniform<double>({2, 4, 6, 3})).Gradient(),
    Row(SpaceToDepth{.block_size = 2}).Inputs(Empty({0, 4, 6, 3})).Named("empty"),
    Row(SpaceToDepth{.block_size = 2}).Inputs(Uniform({1, 3, 4, 1})).Fails(kBad, "block_size 2"),
    Row(SpaceToDepth{.block_size = 2, .data_format = "NCHW"})
        .Inputs(Uniform({1, 4, 4, 4}))
        .Fails(kBad, "NCHW"),
    Row(DepthToSpace{.block_size = 2})
        .Inputs(Vector<std::string>({}))
        .Fails(kBad, "rank")
        .Named("rank"),
    Row(DepthToSpace{.block_size = 2})
        .Inputs(Values<std::string>({1, 1, 1, 4}, {"a", "b", "c", "d"}))
        .Expect(Values<std::string>({1, 2, 2, 1}, {"a", "b", "c", "d"})),
    Row(DepthToSpace{.block_size = 3}).Inputs(Uniform<double>({2, 2, 1, 18})).Gradient(),
    Row(DepthToSpace{.block_size = 2}).Inputs(Uniform({1, 2, 2, 6})).Fails(kBad, "6"),
    Row(DepthToSpace{.block_size = INT64_MAX}).Inputs(Uniform({1, 2, 2, 6})).Fails(kBad, "square"),
    Row(ExtractImagePatches{{1, 2, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME"})
        .Inputs(Values<int64_t>({1, 2, 2, 1}, {1, 2, 3, 4}))
        .Expect(Values<int64_t>({1, 2, 2, 2}, {1, 3, 2, 4, 3, 0, 4, 0})),
    Row(ExtractImagePatches{{1, 3, 2, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, "VALID"})
        .Inputs(Uniform<double>({2, 5, 6, 2}))
        .Gradient(),
    Row(ExtractImagePatches{{1, 2, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME"})
        .Inputs(Empty({0, 3, 3, 1}))
        .Named("empty"),
    Row(ExtractImagePatches{{1, 2, 2, 1}, {1, 0, 1, 1}, {1, 1, 1, 1}, "SAME"})
        .Inputs(Uniform({1, 3, 3, 1}))
        .Fails(kBad, "strides"),
    Row(ExtractImagePatches{{1, INT64_MAX, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME"})
        .Inputs(Uniform({1, 3, 3, 1}))
        .Fails(kBad, "ksizes"),
    Row(ExtractVolumePatches{{1, 2, 2, 2, 1}, {1, 2, 1, 2, 1}, "SAME"})
        .Inputs(Uniform<double>({1, 3, 4, 3, 2}))
        .Gradient(),
    Row(ExtractVolumePatches{{1, 9, 2, 2, 1}, {1, 1, 1, 1, 1}, "VALID"})
        .Inputs(Uniform({1, 3, 3, 3, 1}))
        .Fails(kBad, "9"),
    Row(ExtractVolumePatches{{1, 2, 2, 2, 1}, {1, 1, 1, 1, 1}, "VALID"})
        .Inputs(Uniform({1, 3, 3, 1}))
        .Fails(kBad, "rank"),
};

const OpRows kColourRows{
    Row(RGBToHSV{})
        .Inputs(Values<double>({2, 3}, {1, 0, 0, 0.25, 0.5, 0.5}))
        .Expect(Values<double>({2, 3}, {0, 1, 1, 0.5, 0.5, 0.5}))
        .NoGradient(),
    Row(RGBToHSV{}).Inputs(Uniform<double>({4, 5, 3}, 0.1, 1)).Gradient(),
    Row(RGBToHSV{}).Inputs(Uniform({4, 2})).Fails(kBad, "3 channels"),
    Row(RGBToHSV{}).Inputs(Scalar(1.f)).Fails(kBad, "images"),
    Row(HSVToRGB{})
        .Inputs(Values<float>({3}, {0.5f, 0.5f, 0.5f}))
        .Expect(Values<float>({3}, {0.25f, 0.5f, 0.5f})),
    Row(HSVToRGB{}).Inputs(Empty<half>({0, 3})).Named("empty"),
    Row(HSVToRGB{}).Inputs(Uniform({4, 4})).Fails(kBad, "3 channels"),
    Row(HSVToRGB{}).Inputs(Scalar(1.f)).Fails(kBad, "images"),
    Row(AdjustHue{})
        .Inputs(Values<float>({1, 1, 3}, {1, 0, 0}), Scalar(1 / 3.f))
        .Expect(Values<float>({1, 1, 3}, {0, 1, 0})),
    Row(AdjustHue{}).Inputs(Uniform({2, 2, 3}), Scalar(1e30f)).Named("many_turns"),
    Row(AdjustHue{}).Inputs(Uniform({2, 3}), Scalar(0.f)).Fails(kBad, "images"),
    Row(AdjustHue{}).Inputs(Uniform({2, 2, 3}), Uniform({2})).Fails(kBad, "delta"),
    Row(AdjustSaturation{})
        .Inputs(Values<float>({1, 1, 3}, {1, 0.5f, 0.5f}), Scalar(2.f))
        .Expect(Values<float>({1, 1, 3}, {1, 0, 0})),
    Row(AdjustSaturation{}).Inputs(Uniform({2, 2, 4}), Scalar(0.f)).Fails(kBad, "3 channels"),
    Row(AdjustSaturation{}).Inputs(Uniform({2, 2, 3}), Uniform({2})).Fails(kBad, "scale"),
    Row(AdjustContrastv2{})
        .Inputs(Values<float>({1, 2, 1}, {1, 3}), Scalar(2.f))
        .Expect(Values<float>({1, 2, 1}, {0, 4})),
    Row(AdjustContrastv2{}).Inputs(Uniform({2, 2}), Scalar(0.f)).Fails(kBad, "images"),
    Row(AdjustContrastv2{}).Inputs(Uniform({2, 2, 2}), Uniform({1})).Fails(kBad, "factor"),
};

// Box 1 lies within box 0; box 2 lies apart.
const Value kBoxes = Values<float>({3, 4}, {0, 0, 1, 1, 1, 1, 0, 0.1f, 2, 2, 3, 3});
const Value kScores = Vector<float>({0.5f, 0.9f, 0.7f});

const OpRows kSelectionRows{
    Row(NonMaxSuppression{}).Inputs(kBoxes, kScores, Int(5)).Expect(Ints({1, 2})),
    Row(NonMaxSuppression{}).Inputs(Empty({0, 4}), Empty({0}), Int(5)).Named("empty"),
    Row(NonMaxSuppression{}).Inputs(kBoxes, kScores, Int(-1)).Fails(kBad, "-1"),
    Row(NonMaxSuppression{.iou_threshold = 2})
        .Inputs(kBoxes, kScores, Int(1))
        .Fails(kBad, "iou_threshold"),
    Row(NonMaxSuppressionV2{})
        .Inputs(kBoxes, kScores, Int(5), Scalar(half(1.0f)))
        .Expect(Ints({1, 2, 0})),
    Row(NonMaxSuppressionV2{})
        .Inputs(kBoxes, Vector<float>({1}), Int(5), Scalar(0.f))
        .Fails(kBad, "3 vs 1"),
    Row(NonMaxSuppressionV2{})
        .Inputs(Uniform({3, 3}), kScores, Int(5), Scalar(0.f))
        .Fails(kBad, "4 columns"),
    Row(NonMaxSuppressionV3{})
        .Inputs(kBoxes, kScores, Int(1), Scalar(0.5f), Scalar(0.f))
        .Expect(Ints({1})),
    Row(NonMaxSuppressionV3{})
        .Inputs(kBoxes, kScores, Int(1), Scalar(-0.5f), Scalar(0.f))
        .Fails(kBad, "-0.5"),
    Row(NonMaxSuppressionV3{})
        .Inputs(kBoxes, kScores, Int(1), Scalar(0.5f), Uniform({1}))
        .Fails(kBad, "score_threshold"),
    Row(NonMaxSuppressionV4{.pad_to_max_output_size = true})
        .Inputs(kBoxes, kScores, Int(4), Scalar(0.5f), Scalar(0.8f))
        .Expect(Ints({1, 0, 0, 0}), Int(1)),
    Row(NonMaxSuppressionV4{})
        .Inputs(Uniform({4}), kScores, Int(4), Scalar(0.5f), Scalar(0.8f))
        .Fails(kBad, "boxes"),
    Row(NonMaxSuppressionV4{})
        .Inputs(kBoxes, kScores, Ints({4}), Scalar(0.5f), Scalar(0.8f))
        .Fails(kBad, "max_output_size"),
    Row(NonMaxSuppressionV5{})
        .Inputs(kBoxes, kScores, Int(5), Scalar(0.5f), Scalar(0.f), Scalar(0.5f))
        .Expect(Ints({1, 2, 0}), Vector<float>({0.9f, 0.7f, 0.22242904f}), Int(3)),
    Row(NonMaxSuppressionV5{})
        .Inputs(kBoxes, kScores, Int(5), Scalar(0.5f), Scalar(0.f), Scalar(-1.f))
        .Fails(kBad, "sigma"),
    Row(NonMaxSuppressionV5{})
        .Inputs(kBoxes, kScores, Int(-5), Scalar(0.5f), Scalar(0.f), Scalar(1.f))
        .Fails(kBad, "-5"),
    Row(NonMaxSuppressionWithOverlaps{})
        .Inputs(Values<float>({2, 2}, {1, 0.6f, 0.6f, 1}), Vector<float>({1, 2}), Int(2),
                Scalar(0.5f), Scalar(0.f))
        .Expect(Ints({1})),
    Row(NonMaxSuppressionWithOverlaps{})
        .Inputs(Uniform({2, 3}), Uniform({2}), Int(2), Scalar(0.5f), Scalar(0.f))
        .Fails(kBad, "square"),
    Row(NonMaxSuppressionWithOverlaps{})
        .Inputs(Uniform({2, 2}), Uniform({3}), Int(2), Scalar(0.5f), Scalar(0.f))
        .Fails(kBad, "2 vs 3"),
    Row(CombinedNonMaxSuppression{})
        .Inputs(Uniform({2, 6, 1, 4}, 0, 1), Uniform({2, 6, 3}, 0, 1), Int(2), Int(4), Scalar(0.5f),
                Scalar(0.1f)),
    Row(CombinedNonMaxSuppression{.pad_per_class = true})
        .Inputs(Empty({2, 0, 3, 4}), Empty({2, 0, 3}), Int(2), Int(9), Scalar(0.5f), Scalar(0.1f))
        .Named("no_box"),
    Row(CombinedNonMaxSuppression{})
        .Inputs(Uniform({2, 6, 2, 4}), Uniform({2, 6, 3}), Int(2), Int(4), Scalar(0.5f),
                Scalar(0.1f))
        .Fails(kBad, "classes"),
    Row(CombinedNonMaxSuppression{})
        .Inputs(Uniform({2, 6, 1, 4}), Uniform({2, 6, 3}), Int(0), Int(4), Scalar(0.5f),
                Scalar(0.1f))
        .Fails(kBad, "max_output_size_per_class"),
};

const OpRows kBoxRows{
    Row(DrawBoundingBoxes{})
        .Inputs(Values<float>({1, 2, 3, 1}, {0, 0, 0, 0, 0, 0}),
                Values<float>({1, 1, 4}, {0, 0.5f, 9, 0.5f}))
        .Expect(Values<float>({1, 2, 3, 1}, {0, 1, 0, 0, 1, 0})),
    Row(DrawBoundingBoxes{}).Inputs(Uniform({1, 2, 2, 2}), Uniform({1, 1, 4})).Fails(kBad, "2"),
    Row(DrawBoundingBoxes{}).Inputs(Uniform({2, 2, 2, 3}), Uniform({1, 1, 4})).Fails(kBad, "2 vs"),
    Row(DrawBoundingBoxesV2{})
        .Inputs(Uniform<half>({2, 5, 6, 3}), Uniform({2, 4, 4}), Uniform({3, 4})),
    Row(DrawBoundingBoxesV2{})
        .Inputs(Uniform({1, 2, 2, 3}), Uniform({1, 1, 4}), Uniform({3, 2}))
        .Fails(kBad, "colors"),
    Row(DrawBoundingBoxesV2{})
        .Inputs(Uniform({1, 2, 2, 3}), Uniform({1, 1, 3}), Uniform({3, 3}))
        .Fails(kBad, "4 corners"),
    Row(ExtractGlimpse{.uniform_noise = false, .noise = "zero"})
        .Inputs(Values<float>({1, 1, 4, 1}, {1, 2, 3, 4}), Ints({1, 2}),
                Values<float>({1, 2}, {0, 0}))
        .Expect(Values<float>({1, 1, 2, 1}, {2, 3})),
    Row(ExtractGlimpse{.noise = "pink"})
        .Inputs(Uniform({1, 4, 4, 1}), Ints({2, 2}), Uniform({1, 2}))
        .Fails(kBad, "pink"),
    Row(ExtractGlimpse{})
        .Inputs(Uniform({1, 4, 4, 1}), Ints({2, 2}), Uniform({2, 2}))
        .Fails(kBad, "[2,2]"),
    Row(ExtractGlimpseV2{.uniform_noise = false, .noise = "gaussian"})
        .Inputs(Uniform({2, 4, 5, 3}), Ints({6, 3}), Uniform({2, 2})),
    Row(ExtractGlimpseV2{.noise = "zero"})
        .Inputs(Uniform({1, 4, 4, 1}), Ints({2, 2}), Uniform({1, 2}))
        .Fails(kBad, "uniform_noise"),
    Row(ExtractGlimpseV2{})
        .Inputs(Uniform({1, 4, 4, 1}), Ints({2, -2}), Uniform({1, 2}))
        .Fails(kBad, "-2"),
};

// Values of stock TensorFlow for these seeds; a stateful op goes on in its stream from run to run.
const Value kWholeImage = Values<float>({1, 1, 4}, {0, 0, 1, 1});
const OpRows kSampleRows{
    Row("StatelessSampleDistortedBoundingBox")
        .Inputs(Ints({60, 80, 3}), kWholeImage, Scalar(0.1f), Vector<int64_t>({1, 2}))
        .Expect(Ints({0, 1, 0}), Ints({54, 67, -1}),
                Values<float>({1, 1, 4}, {0.0f, 0.0125f, 0.9f, 0.85f})),
    Row("StatelessSampleDistortedBoundingBox")
        .Inputs(Ints({60, 80, 3}), Empty({1, 0, 4}), Scalar(0.1f), Vector<int64_t>({1, 2}))
        .Fails(kBad, "use_image_if_no_bounding_boxes"),
    Row("StatelessSampleDistortedBoundingBox")
        .Inputs(Ints({60, 80, 3}), Values<float>({1, 1, 4}, {0, 0, 2, 1}), Scalar(0.1f),
                Vector<int64_t>({1, 2}))
        .Fails(kBad, "2"),
    Row("SampleDistortedBoundingBox")
        .Attr("max_attempts", int64_t{0})
        .Inputs(Ints({60, 80, 3}), kWholeImage)
        .Fails(kBad, "max_attempts"),
    Row("SampleDistortedBoundingBox").Inputs(Ints({60, 80}), kWholeImage).Fails(kBad, "3 elements"),
    Row("SampleDistortedBoundingBoxV2")
        .Inputs(Ints({60, 80, 3}), kWholeImage, Scalar(-1.f))
        .Fails(kBad, "-1"),
    Row("SampleDistortedBoundingBoxV2")
        .Inputs(Ints({60, -80, 3}), kWholeImage, Scalar(0.1f))
        .Fails(kBad, "-80"),
};

}  // namespace
}  // namespace penstock::rows
