#include "penstock/ops/image/crop_and_resize.h"
#include "penstock/ops/image/projective_transform.h"
#include "penstock/ops/image/resize.h"
#include "penstock/ops/image/scale_and_translate.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

Value Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }

// Results of these are float, too coarse for differences: their derivatives are compared with
// recorded ones.
const OpRows kResizeRows{
    Row(ResizeBilinear{})
        .Inputs(Values<uint8_t>({1, 1, 2, 1}, {0, 100}), Ints({2, 4}))
        .Expect(Values<float>({1, 2, 4, 1}, {0, 50, 100, 100, 0, 50, 100, 100}))
        .NoGradient(),
    Row(ResizeBilinear{.half_pixel_centers = true})
        .Inputs(Values<float>({1, 1, 2, 1}, {0, 100}), Ints({1, 4}))
        .Expect(Values<float>({1, 1, 4, 1}, {0, 25, 75, 100}))
        .NoGradient()
        .Named("half_pixels"),
    Row(ResizeBilinear{.align_corners = true})
        .Inputs(Uniform({2, 5, 4, 3}), Ints({7, 9}))
        .NoGradient()
        .Named("aligned"),
    Row(ResizeBilinear{}).Inputs(Empty({0, 5, 4, 3}), Ints({7, 9})).Named("no_image"),
    Row(ResizeBilinear{}).Inputs(Uniform({1, 2, 2, 1}), Ints({0, 3})).Fails(kBad, "0"),
    Row(ResizeBilinear{})
        .Inputs(Uniform({2, 2, 1}), Ints({3, 3}))
        .Fails(kBad, "images")
        .Named("rank"),
    Row(ResizeBilinear{.align_corners = true, .half_pixel_centers = true})
        .Inputs(Uniform({1, 2, 2, 1}), Ints({3, 3}))
        .Fails(kBad, "exclude")
        .Named("both"),
    Row(ResizeBilinearGrad{})
        .Inputs(Uniform({1, 4, 6, 2}), Uniform<half>({1, 3, 2, 2}))
        .NoGradient(),
    Row(ResizeBilinearGrad{})
        .Inputs(Uniform({1, 0, 2, 1}), Uniform({1, 2, 2, 1}))
        .Fails(kBad, "positive"),
    Row(ResizeBilinearGrad{}).Inputs(Uniform({1, 2, 2, 1}), Uniform({2, 2})).Fails(kBad, "image"),
    Row(ResizeBicubic{.half_pixel_centers = true})
        .Inputs(Uniform({1, 5, 6, 3}), Ints({9, 2}))
        .NoGradient(),
    Row(ResizeBicubic{}).Inputs(Uniform({1, 2, 0, 1}), Ints({3, 3})).Fails(kBad, "widths"),
    Row(ResizeBicubic{}).Inputs(Uniform({1, 2, 2, 1}), Ints({3})).Fails(kBad, "2 elements"),
    Row(ResizeBicubicGrad{})
        .Inputs(Uniform({1, 4, 6, 2}), Uniform<double>({1, 3, 2, 2}))
        .NoGradient(),
    Row(ResizeBicubicGrad{})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 0, 2, 1}))
        .Fails(kBad, "positive"),
    Row(ResizeBicubicGrad{}).Inputs(Uniform({2, 2}), Uniform({1, 2, 2, 1})).Fails(kBad, "grads"),
    Row(ResizeNearestNeighbor{})
        .Inputs(Values<double>({1, 1, 2, 1}, {1, 2}), Ints({2, 3}))
        .Expect(Values<double>({1, 2, 3, 1}, {1, 1, 2, 1, 1, 2}))
        .Gradient(),
    Row(ResizeNearestNeighbor{}).Inputs(Uniform({1, 2, 2, 0}), Ints({1, 1})).Fails(kBad, "chan"),
    Row(ResizeNearestNeighbor{}).Inputs(Uniform({1, 2, 2, 1}), Ints({1, -1})).Fails(kBad, "-1"),
    Row(ResizeNearestNeighborGrad{.align_corners = true})
        .Inputs(Uniform<double>({2, 4, 5, 2}), Ints({3, 2}))
        .Gradient(),
    Row(ResizeNearestNeighborGrad{}).Inputs(Uniform({1, 2, 2, 1}), Ints({0, 1})).Fails(kBad, "0"),
    Row(ResizeNearestNeighborGrad{}).Inputs(Uniform({2, 2}), Ints({1, 1})).Fails(kBad, "grads"),
    Row(ResizeArea{})
        .Inputs(Values<int64_t>({1, 2, 2, 1}, {1, 2, 3, 6}), Ints({1, 1}))
        .Expect(Values<float>({1, 1, 1, 1}, {3})),
    Row(ResizeArea{}).Inputs(Uniform({1, 0, 2, 1}), Ints({1, 1})).Fails(kBad, "heights"),
    Row(ResizeArea{}).Inputs(Uniform({1, 2, 2, 1}), Ints({-2, 1})).Fails(kBad, "-2"),
};

const OpRows kResampleRows{
    Row(ScaleAndTranslate{.kernel_type = "triangle"})
        .Inputs(Uniform({2, 4, 5, 2}), Ints({6, 3}), Vector<float>({1.5, 0.6f}),
                Vector<float>({0.5, -0.25}))
        .NoGradient(),
    Row(ScaleAndTranslate{.kernel_type = "box", .antialias = false})
        .Inputs(Uniform<uint8_t>({1, 3, 3, 1}, 0, 255), Ints({3, 3}), Vector<float>({1, 1}),
                Vector<float>({1e30f, 0}))
        .Expect(Values<float>({1, 3, 3, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0}))
        .Named("far"),
    Row(ScaleAndTranslate{})
        .Inputs(Uniform({1, 3, 3, 1}), Ints({3, 3}), Vector<float>({1, 0}), Vector<float>({0, 0}))
        .Fails(kBad, "scale"),
    Row(ScaleAndTranslate{.kernel_type = "none"})
        .Inputs(Uniform({1, 3, 3, 1}), Ints({3, 3}), Vector<float>({1, 1}), Vector<float>({0, 0}))
        .Fails(kBad, "none"),
    Row(ScaleAndTranslateGrad{})
        .Inputs(Uniform({1, 3, 4, 2}), Uniform({1, 6, 5, 2}), Vector<float>({0.5, 0.8f}),
                Vector<float>({0, 0.1f})),
    Row(ScaleAndTranslateGrad{})
        .Inputs(Uniform({1, 3, 3, 1}), Uniform({1, 3, 3, 1}), Vector<float>({1, -1}),
                Vector<float>({0, 0}))
        .Fails(kBad, "-1"),
    Row(ScaleAndTranslateGrad{})
        .Inputs(Uniform({1, 3, 3, 1}), Uniform({1, 3, 3, 1}), Vector<float>({1}),
                Vector<float>({0, 0}))
        .Fails(kBad, "2 elements"),
    Row(CropAndResize{.extrapolation_value = 7})
        .Inputs(Values<float>({1, 2, 2, 1}, {1, 2, 3, 4}),
                Values<float>({2, 4}, {0, 0, 1, 1, 0, 0, 2, 2}), Ints({0, 0}), Ints({2, 2}))
        .Expect(Values<float>({2, 2, 2, 1}, {1, 2, 3, 4, 1, 7, 7, 7}))
        .NoGradient(),
    Row(CropAndResize{.method = "nearest"})
        .Inputs(Uniform<int16_t>({2, 5, 4, 3}, -9, 9), Uniform({3, 4}, 0, 1), Ints({1, 0, 1}),
                Ints({3, 1}))
        .NoGradient(),
    Row(CropAndResize{})
        .Inputs(Uniform({2, 5, 4, 3}), Empty({0, 4}), Empty<int32_t>({0}), Ints({2, 2}))
        .Named("no_box"),
    Row(CropAndResize{})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 4}), Ints({1}), Ints({2, 2}))
        .Fails(Code::kOutOfRange, "1"),
    Row(CropAndResize{})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 4}), Ints({0, 0}), Ints({2, 2}))
        .Fails(kBad, "1 and 2"),
    Row(CropAndResizeGradImage{})
        .Attr("T", DType::kDouble)
        .Inputs(Uniform({2, 3, 2, 2}), Uniform({2, 4}, 0, 1), Ints({1, 1}), Ints({2, 4, 5, 2})),
    Row(CropAndResizeGradImage{})
        .Attr("T", DType::kFloat)
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 4}), Ints({0}), Ints({1, 2, 2, 3}))
        .Fails(kBad, "1 vs 3"),
    Row(CropAndResizeGradImage{})
        .Attr("T", DType::kFloat)
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 4}), Ints({-1}), Ints({1, 2, 2, 1}))
        .Fails(Code::kOutOfRange, "-1"),
    Row(CropAndResizeGradBoxes{})
        .Inputs(Uniform({2, 3, 2, 2}), Uniform<double>({2, 4, 5, 2}), Uniform({2, 4}, 0, 1),
                Ints({1, 0})),
    Row(CropAndResizeGradBoxes{})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 2, 2, 2}), Uniform({1, 4}), Ints({0}))
        .Fails(kBad, "1 vs 2"),
    Row(CropAndResizeGradBoxes{})
        .Inputs(Uniform({2, 2, 2, 1}), Uniform({1, 2, 2, 1}), Uniform({1, 4}), Ints({0}))
        .Fails(kBad, "2 vs 1"),
};

const OpRows kTransformRows{
    Row(ImageProjectiveTransformV2{.interpolation = "NEAREST"})
        .Inputs(Values<int32_t>({1, 1, 3, 1}, {1, 2, 3}),
                Values<float>({1, 8}, {1, 0, 1, 0, 1, 0, 0, 0}), Ints({1, 3}))
        .Expect(Values<int32_t>({1, 1, 3, 1}, {2, 3, 0})),
    Row(ImageProjectiveTransformV2{.interpolation = "BILINEAR", .fill_mode = "REFLECT"})
        .Inputs(Uniform({2, 4, 5, 2}),
                Values<float>({1, 8}, {0.9f, 0.2f, 3, -0.2f, 0.9f, -2, 0.01f, 0}), Ints({3, 6}))
        .NoGradient(),
    Row(ImageProjectiveTransformV2{.interpolation = "CUBIC"})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 8}), Ints({2, 2}))
        .Fails(kBad, "CUBIC"),
    Row(ImageProjectiveTransformV2{.interpolation = "NEAREST"})
        .Inputs(Uniform({3, 2, 2, 1}), Uniform({2, 8}), Ints({2, 2}))
        .Fails(kBad, "[2,8]"),
    Row(ImageProjectiveTransformV3{.interpolation = "BILINEAR"})
        .Inputs(Uniform<uint8_t>({1, 3, 3, 1}, 0, 255),
                Values<float>({1, 8}, {1, 0, 1e30f, 0, 1, 0, 0, 0}), Ints({2, 2}), Scalar(9.f))
        .Named("far"),
    Row(ImageProjectiveTransformV3{.interpolation = "NEAREST", .fill_mode = "EDGE"})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 8}), Ints({2, 2}), Scalar(0.f))
        .Fails(kBad, "EDGE"),
    Row(ImageProjectiveTransformV3{.interpolation = "NEAREST"})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 8}), Ints({2, 0}), Scalar(0.f))
        .Fails(kBad, "0"),
};

}  // namespace
}  // namespace penstock::rows
