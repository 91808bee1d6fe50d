#include "penstock/ops/nn/conv.h"
#include "penstock/ops/nn/conv_fused.h"
#include "penstock/ops/nn/dilation2d.h"
#include "penstock/ops/nn/fused_matmul.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

const std::vector<int64_t> kOnes = {1, 1, 1, 1};
const std::vector<int64_t> kOnes3D = {1, 1, 1, 1, 1};

Conv2D Planar(std::string padding, std::vector<int64_t> strides = kOnes) {
  return {{.strides = std::move(strides), .padding = std::move(padding)}};
}
DepthwiseConv2dNative Depthwise(std::string padding, std::vector<int64_t> strides = kOnes) {
  return {{.strides = std::move(strides), .padding = std::move(padding)}};
}
Dilation2D Grey(std::string padding, std::vector<int64_t> rates = kOnes) {
  return {{.strides = kOnes, .rates = std::move(rates), .padding = std::move(padding)}};
}

const OpRows kConv2DRows{
    Row(Planar("VALID"))
        .Inputs(Values<float>({1, 2, 3, 1}, {1, 2, 3, 4, 5, 6}),
                Values<float>({2, 2, 1, 1}, {1, 10, 100, 1000}))
        .Expect(Values<float>({1, 1, 2, 1}, {5421, 6532}))
        .Gradient(),
    Row(Planar("SAME")).Inputs(Uniform({2, 4, 5, 3}), Uniform({3, 3, 3, 4})).Gradient(),
    Row(Planar("SAME", {1, 2, 3, 1}))
        .Inputs(Uniform({1, 5, 6, 2}), Uniform({3, 2, 2, 3}))
        .Gradient(),
    Row(Conv2D{{.strides = {1, 1, 2, 2},
                .padding = "EXPLICIT",
                .explicit_paddings = {0, 0, 0, 0, 2, 1, 0, 3},
                .data_format = "NCHW",
                .dilations = {1, 1, 2, 1}}})
        .Inputs(Uniform({2, 2, 5, 4}), Uniform({2, 3, 2, 3}))
        .Gradient()
        .Named("explicit_nchw"),
    Row(Planar("VALID"))
        .Inputs(Uniform({1, 3, 3, 4}), Uniform({2, 2, 2, 6}))
        .Gradient()
        .Named("groups"),
    Row(Planar("SAME"))
        .Inputs(Uniform({2, 30, 31, 16}), Uniform({3, 3, 16, 24}))
        .NoGradient()
        .Named("larger"),
    Row(Planar("SAME"))
        .Inputs(Uniform<half>({1, 4, 4, 2}), Uniform<half>({2, 2, 2, 3}))
        .NoGradient(),
    Row(Planar("VALID"))
        .Inputs(Values<int32_t>({1, 1, 2, 1}, {1 << 30, 3}), Values<int32_t>({1, 2, 1, 1}, {4, 5}))
        .Expect(Values<int32_t>({1, 1, 1, 1}, {15}))
        .Named("int32_wraps"),
    Row(Planar("SAME"))
        .Inputs(Empty({0, 4, 4, 2}), Uniform({2, 2, 2, 3}))
        .Expect(Empty({0, 4, 4, 3})),
    Row(Planar("SAME"))
        .Inputs(Uniform({1, 1, 1, 3}), Uniform({2, 2, 2, 3}))
        .Fails(Code::kInvalidArgument, "3 vs 2"),
    Row(Planar("VALID"))
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({3, 3, 1, 1}))
        .Fails(Code::kInvalidArgument, "subtracting 3 from 2"),
    Row(Planar("SAME", {2, 1, 1, 1}))
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 1, 1, 1}))
        .Fails(Code::kInvalidArgument, "batch"),
    Row(Planar("SAME", {1, 0, 1, 1}))
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 1, 1, 1}))
        .Fails(Code::kInvalidArgument, "positive"),
    Row(Conv2D{{.strides = kOnes,
                .padding = "EXPLICIT",
                .explicit_paddings = {0, 0, 1, -1, 0, 0, 0, 0}}})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 1, 1, 1}))
        .Fails(Code::kInvalidArgument, "explicit_paddings"),
    Row(Conv2D{{.strides = kOnes, .padding = "VALID", .dilations = {1, int64_t{1} << 40, 1, 1}}})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({3, 1, 1, 1}))
        .Fails(Code::kInvalidArgument, "too wide"),
};

const Conv2DAttributes kSame{.strides = {1, 2, 2, 1}, .padding = "SAME"};

const OpRows kConv2DGradientRows{
    Row(Conv2DBackpropInput{kSame})
        .Inputs(Vector<int32_t>({1, 5, 4, 2}), Uniform({3, 3, 2, 3}), Uniform({1, 3, 2, 3}))
        .Gradient(),
    Row(Conv2DBackpropInput{kSame})
        .Inputs(Vector<int32_t>({5, 4}), Uniform({3, 3, 2, 3}), Uniform({1, 3, 2, 3}))
        .Named("spatial_sizes_only"),
    Row(Conv2DBackpropInput{kSame})
        .Inputs(Vector<int32_t>({1, 5, 4, 2}), Uniform({3, 3, 2, 3}), Uniform({1, 3, 3, 3}))
        .Fails(Code::kInvalidArgument, "[1,3,2,3]"),
    Row(Conv2DBackpropInput{kSame})
        .Inputs(Vector<int32_t>({1, 5, -4, 2}), Uniform({3, 3, 2, 3}), Uniform({1, 3, 2, 3}))
        .Fails(Code::kInvalidArgument, "-4"),
    Row(Conv2DBackpropInputV2{kSame})
        .Inputs(Uniform({1, 5, 4, 2}), Uniform({3, 3, 2, 3}), Uniform({1, 3, 2, 3}))
        .Gradient(),
    Row(Conv2DBackpropInputV2{kSame})
        .Inputs(Uniform({5, 4, 2}), Uniform({3, 3, 2, 3}), Uniform({1, 3, 2, 3}))
        .Fails(Code::kInvalidArgument, "rank 4"),
    Row(Conv2DBackpropFilter{kSame})
        .Inputs(Uniform({2, 5, 4, 2}), Vector<int32_t>({3, 3, 2, 3}), Uniform({2, 3, 2, 3}))
        .Gradient(),
    Row(Conv2DBackpropFilter{kSame})
        .Inputs(Empty({0, 5, 4, 2}), Vector<int32_t>({1, 1, 2, 1}), Empty({0, 3, 2, 1}))
        .Expect(Values<float>({1, 1, 2, 1}, {0, 0})),
    Row(Conv2DBackpropFilter{kSame})
        .Inputs(Uniform({2, 5, 4, 2}), Vector<int32_t>({3, 3, 2}), Uniform({2, 3, 2, 3}))
        .Fails(Code::kInvalidArgument, "rank 4"),
    Row(Conv2DBackpropFilter{kSame})
        .Inputs(Uniform({2, 5, 4, 2}), Vector<int32_t>({3, 3, 2, 3}), Uniform({1, 3, 2, 3}))
        .Fails(Code::kInvalidArgument, "got [1,3,2,3]"),
    Row(Conv2DBackpropFilterV2{kSame})
        .Inputs(Uniform({1, 5, 4, 2}), Uniform({3, 3, 2, 3}), Uniform({1, 3, 2, 3}))
        .Gradient(),
};

const OpRows kDepthwiseRows{
    Row(Depthwise("VALID"))
        .Inputs(Values<float>({1, 1, 2, 2}, {1, 2, 3, 4}),
                Values<float>({1, 2, 2, 1}, {1, 10, 100, 1000}))
        .Expect(Values<float>({1, 1, 1, 2}, {301, 4020}))
        .Gradient(),
    Row(Depthwise("SAME", {1, 2, 2, 1}))
        .Inputs(Uniform({2, 5, 4, 3}), Uniform({3, 3, 3, 2}))
        .Gradient(),
    Row(DepthwiseConv2dNative{{.strides = kOnes, .padding = "SAME", .data_format = "NCHW"}})
        .Inputs(Uniform({1, 3, 4, 4}), Uniform({2, 2, 3, 1}))
        .Gradient(),
    Row(Depthwise("SAME"))
        .Inputs(Uniform({1, 2, 2, 3}), Uniform({1, 1, 2, 1}))
        .Fails(Code::kInvalidArgument, "3, got 2"),
    Row(Depthwise("SAME"))
        .Inputs(Uniform({2, 2, 3}), Uniform({1, 1, 3, 1}))
        .Fails(Code::kInvalidArgument, "rank 4"),
};

const OpRows kConv3DRows{
    Row(Conv3D{{.strides = {1, 1, 2, 1, 1}, .padding = "SAME"}})
        .Inputs(Uniform({1, 3, 4, 3, 2}), Uniform({2, 3, 2, 2, 3}))
        .Gradient(),
    Row(Conv3D{{.strides = kOnes3D, .padding = "VALID", .data_format = "NCDHW"}})
        .Inputs(Uniform({1, 2, 3, 4, 3}), Uniform({2, 2, 2, 2, 2}))
        .Gradient(),
    Row(Conv3D{{.strides = kOnes3D, .padding = "VALID"}})
        .Inputs(Uniform({1, 3, 4, 3}), Uniform({2, 2, 2, 2, 2}))
        .Fails(Code::kInvalidArgument, "rank 5"),
    Row(Conv3D{{.strides = kOnes3D, .padding = "VALID"}})
        .Inputs(Uniform({1, 1, 4, 3, 2}), Uniform({2, 2, 2, 2, 2}))
        .Fails(Code::kInvalidArgument, "subtracting 2 from 1"),
    Row(Conv3DBackpropInput{{.strides = kOnes3D, .padding = "SAME"}})
        .Inputs(Uniform({1, 2, 3, 2, 1}), Uniform({2, 2, 1, 1, 2}), Uniform({1, 2, 3, 2, 2}))
        .Gradient(),
    Row(Conv3DBackpropFilter{{.strides = kOnes3D, .padding = "SAME"}})
        .Inputs(Uniform({1, 2, 3, 2, 1}), Uniform({2, 2, 1, 1, 2}), Uniform({1, 2, 3, 2, 2}))
        .Gradient(),
    Row(Conv3DBackpropInputV2{{.strides = kOnes3D, .padding = "SAME"}})
        .Inputs(Vector<int64_t>({1, 2, 3, 2, 1}), Uniform({2, 2, 1, 1, 2}),
                Uniform({1, 2, 3, 2, 2}))
        .Gradient(),
};

FusedConv2D Fused(std::vector<std::string> ops, std::string format = "NHWC") {
  FusedConv2D op{{.strides = kOnes, .padding = "SAME", .data_format = std::move(format)}};
  op.fused_ops = std::move(ops);
  return op;
}

const OpRows kFusedRows{
    Row(Fused({"BiasAdd", "Add", "Relu"}))
        .Inputs(Values<float>({1, 1, 2, 1}, {1, -2}), Values<float>({1, 1, 1, 2}, {3, 4}),
                Values<float>({2}, {10, 1}), Values<float>({1, 1, 2, 2}, {1, 2, 3, 4}))
        .Attr("num_args", 2)
        .Expect(Values<float>({1, 1, 2, 2}, {14, 7, 7, 0})),
    Row(Fused({"Add", "Relu6"}, "NCHW"))
        .Inputs(Values<float>({1, 1, 1, 2}, {1, -2}), Values<float>({1, 1, 1, 2}, {3, 4}),
                Values<float>({1, 2, 1, 2}, {1, 20, 3, 4}))
        .Attr("num_args", 1)
        .Expect(Values<float>({1, 2, 1, 2}, {4, 6, 6, 0})),
    Row(Fused({"BiasAdd", "Tanh"}))
        .Inputs(Uniform({2, 9, 9, 8}), Uniform({3, 3, 8, 16}), Uniform({16}))
        .Attr("num_args", 1)
        .Named("larger"),
    Row(Fused({"BiasAdd"}))
        .Inputs(Empty({1, 1, 2, 0}), Empty({1, 1, 0, 2}), Values<float>({2}, {5, 6}))
        .Attr("num_args", 1)
        .Expect(Values<float>({1, 1, 2, 2}, {5, 6, 5, 6}))
        .Named("nothing_to_sum"),
    Row(Fused({"Relu", "BiasAdd"}))
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 1, 1, 2}), Uniform({2}))
        .Attr("num_args", 1)
        .Fails(Code::kInvalidArgument, "BiasAdd"),
    Row(Fused({"BiasAdd"}))
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 1, 1, 2}), Uniform({3}))
        .Attr("num_args", 1)
        .Fails(Code::kInvalidArgument, "2 channels"),
    Row(FusedMatMul{.fused_ops = {"BiasAdd", "Add", "LeakyRelu"}, .leakyrelu_alpha = 0.5f})
        .Inputs(Values<float>({2, 1}, {1, -2}), Values<float>({1, 2}, {3, 4}),
                Values<float>({2}, {10, 1}), Values<float>({2, 2}, {1, 2, 3, 4}))
        .Attr("num_args", 2)
        .Expect(Values<float>({2, 2}, {14, 7, 7, -1.5})),
    Row(FusedMatMul{.fused_ops = {"BiasAdd", "Sigmoid"}})
        .Inputs(Uniform({200, 90}), Uniform({90, 700}), Uniform({700}))
        .Attr("num_args", 1)
        .Named("larger"),
    Row(FusedMatMul{.fused_ops = {"BiasAdd"}})
        .Inputs(Empty({1, 0}), Empty({0, 2}), Values<float>({2}, {5, 6}))
        .Attr("num_args", 1)
        .Expect(Values<float>({1, 2}, {5, 6})),
    Row(FusedMatMul{.fused_ops = {"Softmax"}})
        .Inputs(Uniform({1, 2}), Uniform({2, 2}))
        .Attr("num_args", 0)
        .Fails(Code::kInvalidArgument, "Softmax"),
    Row(FusedMatMul{.fused_ops = {"Add"}})
        .Inputs(Uniform({1, 2}), Uniform({2, 2}), Uniform({2, 2}))
        .Attr("num_args", 1)
        .Fails(Code::kInvalidArgument, "[1,2], got [2,2]"),
};

const OpRows kDilation2DRows{
    Row(Grey("VALID"))
        .Inputs(Values<float>({1, 2, 2, 1}, {1, 2, 3, 4}), Values<float>({2, 2, 1}, {3, 2, 1, 0}))
        .Expect(Values<float>({1, 1, 1, 1}, {4}))
        .NoGradient(),
    Row(Grey("SAME")).Inputs(Uniform({2, 4, 4, 2}), Uniform({2, 3, 2})).Gradient(),
    Row(Grey("SAME", {1, 2, 2, 1})).Inputs(Uniform({1, 4, 4, 2}), Uniform({2, 2, 2})).Gradient(),
    Row(Grey("SAME"))
        .Inputs(Values<uint8_t>({1, 1, 2, 1}, {250, 7}), Values<uint8_t>({1, 1, 1}, {10}))
        .Expect(Values<uint8_t>({1, 1, 2, 1}, {4, 17}))
        .Named("uint8_wraps"),
    Row(Grey("SAME"))
        .Inputs(Uniform({1, 4, 4, 2}), Uniform({2, 2, 3}))
        .Fails(Code::kInvalidArgument, "2, got 3"),
    Row(Grey("VALID"))
        .Inputs(Uniform({1, 1, 1, 2}), Uniform({2, 2, 2}))
        .Fails(Code::kInvalidArgument, "subtracting 2 from 1"),
    Row(Dilation2DBackpropInput{{.strides = kOnes, .rates = kOnes, .padding = "SAME"}})
        .Inputs(Uniform({1, 4, 4, 2}), Uniform({2, 2, 2}), Uniform({1, 4, 3, 2}))
        .Fails(Code::kInvalidArgument, "out_backprop"),
    Row(Dilation2DBackpropFilter{{.strides = kOnes, .rates = kOnes, .padding = "SAME"}})
        .Inputs(Uniform({1, 4, 4, 2}), Uniform({2, 2}), Uniform({1, 4, 4, 2}))
        .Fails(Code::kInvalidArgument, "rank 3"),
};

}  // namespace
}  // namespace penstock::rows
