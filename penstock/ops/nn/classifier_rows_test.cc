#include "penstock/ops/nn/bias_add.h"
#include "penstock/ops/nn/in_top_k.h"
#include "penstock/ops/nn/lrn.h"
#include "penstock/ops/nn/softmax.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

const OpRows kBiasAddRows{
    Row(BiasAdd{})
        .Inputs(Values<float>({2, 2}, {1, 2, 3, 4}), Vector<float>({10, 20}))
        .Expect(Values<float>({2, 2}, {11, 22, 13, 24}))
        .Gradient(),
    Row(BiasAdd{.data_format = "NCHW"})
        .Inputs(Uniform({2, 3, 2, 2}), Uniform({3}))
        .Gradient()
        .Named("channels_first"),
    Row(BiasAdd{}).Inputs(Empty({0, 3}), Uniform({3})).Expect(Empty({0, 3})).Named("empty"),
    Row(BiasAdd{}).Inputs(Uniform({2, 3}), Uniform({2})).Fails(kBad, "2 vs 3"),
    Row(BiasAdd{}).Inputs(Uniform({3}), Uniform({3})).Fails(kBad, "2"),
    Row(BiasAddV1{}).Inputs(Uniform({2, 2, 3}), Uniform({3})).Gradient(),
    Row(BiasAddV1{}).Inputs(Uniform({2, 3}), Uniform({1, 3})).Fails(kBad, "bias"),
    Row(BiasAddV1{}).Inputs(Uniform({2, 3}), Uniform({4})).Fails(kBad, "4 vs 3"),
    Row(BiasAddGrad{})
        .Inputs(Values<float>({2, 2}, {1, 2, 3, 4}))
        .Expect(Vector<float>({4, 6}))
        .Gradient(),
    Row(BiasAddGrad{.data_format = "NCHW"}).Inputs(Uniform({2, 3, 4})).Gradient(),
    Row(BiasAddGrad{}).Inputs(Empty({0, 2})).Expect(Vector<float>({0, 0})).Named("of_nothing"),
    Row(BiasAddGrad{}).Inputs(Uniform({3})).Fails(kBad, "2"),
    Row(BiasAddGrad{.data_format = "NCHW"}).Inputs(Uniform({3, 4})).Fails(kBad, "3"),
};

const OpRows kSoftmaxRows{
    Row(Softmax{})
        .Inputs(Values<float>({2, 2}, {0, 0, 1000, 0}))
        .Expect(Values<float>({2, 2}, {0.5, 0.5, 1, 0})),
    Row(Softmax{}).Inputs(Uniform({2, 3, 5})).Gradient(),
    Row(Softmax{}).Inputs(Uniform({3, 2500}, -20, 20)).NoGradient().Named("long"),
    Row(Softmax{}).Inputs(Uniform<half>({4, 1100})).Tolerance(1e-3).NoGradient(),
    Row(Softmax{}).Inputs(Empty({3, 0})).Expect(Empty({3, 0})).Named("empty"),
    Row(Softmax{}).Inputs(Scalar<float>(1)).Fails(kBad, "1"),
    Row(Softmax{}).Inputs(Uniform<int32_t>({2, 2})).Fails(kBad, "int32"),
    Row(LogSoftmax{})
        .Inputs(Vector<float>({0, 0}))
        .Expect(Vector<float>({-0.6931472f, -0.6931472f}))
        .Gradient(),
    Row(LogSoftmax{}).Inputs(Uniform({4, 7})).Gradient(),
    Row(LogSoftmax{}).Inputs(Scalar<float>(1)).Fails(kBad, "1"),
    Row(LogSoftmax{}).Inputs(Uniform<int32_t>({2, 2})).Fails(kBad, "int32"),
};

// The derivative that comes with the dense loss takes for granted that labels sum to 1, and so
// differences do not confirm it.
const OpRows kCrossEntropyRows{
    Row(SoftmaxCrossEntropyWithLogits{})
        .Inputs(Values<float>({1, 2}, {0, 0}), Values<float>({1, 2}, {1, 0}))
        .Expect(Vector<float>({0.6931472f}), Values<float>({1, 2}, {-0.5, 0.5}))
        .NoGradient(),
    Row(SoftmaxCrossEntropyWithLogits{})
        .Inputs(Uniform({3, 4}), Uniform({1, 4}, 0, 1))
        .NoGradient()
        .Named("one_distribution"),
    Row(SoftmaxCrossEntropyWithLogits{})
        .Inputs(Uniform({3, 3}), Uniform({3, 1}, 0, 1))
        .NoGradient()
        .Named("one_column"),
    Row(SoftmaxCrossEntropyWithLogits{})
        .Inputs(Empty({2, 0}), Empty({2, 0}))
        .Expect(Vector<float>({0, 0}), Empty({2, 0})),
    Row(SoftmaxCrossEntropyWithLogits{}).Inputs(Uniform({3, 4}), Uniform({3, 5})).Fails(kBad, "5"),
    Row(SoftmaxCrossEntropyWithLogits{}).Inputs(Uniform({3}), Uniform({3})).Fails(kBad, "2"),
    Row(SparseSoftmaxCrossEntropyWithLogits{})
        .Inputs(Values<float>({2, 2}, {0, 0, 1, 1}), Vector<int32_t>({1, 0}))
        .Expect(Vector<float>({0.6931472f, 0.6931472f}),
                Values<float>({2, 2}, {0.5, -0.5, -0.5, 0.5}))
        .Gradient(),
    Row(SparseSoftmaxCrossEntropyWithLogits{})
        .Inputs(Empty({0, 3}), Empty<int64_t>({0}))
        .Expect(Empty({0}), Empty({0, 3})),
    Row(SparseSoftmaxCrossEntropyWithLogits{})
        .Inputs(Uniform({2, 3}), Vector<int64_t>({0, 3}))
        .Fails(kBad, "label value of 3"),
    Row(SparseSoftmaxCrossEntropyWithLogits{})
        .Inputs(Uniform({2, 3}), Vector<int32_t>({0, -1}))
        .Fails(kBad, "label value of -1"),
    Row(SparseSoftmaxCrossEntropyWithLogits{})
        .Inputs(Uniform({2, 3}), Vector<int32_t>({0}))
        .Fails(kBad, "as many rows"),
    Row(SparseSoftmaxCrossEntropyWithLogits{})
        .Inputs(Empty({2, 0}), Vector<int32_t>({0, 0}))
        .Fails(kBad, "one class"),
};

const OpRows kInTopKRows{
    Row(InTopK{.k = 1})
        .Inputs(Values<float>({3, 3}, {1, 2, 2, 3, 1, 2, 0, INFINITY, 1}),
                Vector<int32_t>({1, 1, 2}))
        .Expect(Vector<bool>({true, false, false})),
    Row(InTopK{.k = 2}).Inputs(Empty({0, 3}), Empty<int64_t>({0})).Expect(Empty<bool>({0})),
    Row(InTopK{.k = 2}).Inputs(Uniform({2, 3}), Vector<int32_t>({0})).Fails(kBad, "2"),
    Row(InTopK{.k = 2}).Inputs(Uniform({3}), Vector<int32_t>({0, 1, 1})).Fails(kBad, "2"),
    Row(InTopKV2{})
        .Inputs(Values<float>({2, 3}, {1, 2, 3, 1, 2, 3}), Vector<int64_t>({1, 9}),
                Scalar<int64_t>(2))
        .Expect(Vector<bool>({true, false})),
    Row(InTopKV2{})
        .Inputs(Uniform({2, 3}), Vector<int32_t>({0, 1}), Vector<int32_t>({1}))
        .Fails(kBad, "k"),
    Row(InTopKV2{})
        .Inputs(Uniform({2, 3}), Vector<int32_t>({0}), Scalar<int32_t>(1))
        .Fails(kBad, "2"),
};

const OpRows kLrnRows{
    Row(LRN{.depth_radius = 1, .bias = 1, .alpha = 2, .beta = 1})
        .Inputs(Values<float>({1, 1, 1, 3}, {1, 2, 3}))
        .Expect(Values<float>({1, 1, 1, 3}, {1.f / 11, 2.f / 29, 3.f / 27})),
    Row(LRN{.depth_radius = 0}).Inputs(Uniform({2, 1, 2, 3})),
    Row(LRN{}).Inputs(Empty({0, 2, 2, 3})).Expect(Empty({0, 2, 2, 3})),
    Row(LRN{}).Inputs(Uniform({2, 3})).Fails(kBad, "rank 4"),
    Row(LRN{.depth_radius = -1}).Inputs(Uniform({1, 1, 1, 3})).Fails(kBad, "-1"),
    Row(LRNGrad{}).Inputs(Uniform({1, 1, 2, 3}), Uniform({1, 1, 2, 3}), Uniform({1, 1, 2, 3})),
    Row(LRNGrad{})
        .Inputs(Uniform({1, 1, 2, 3}), Uniform({1, 1, 2, 4}), Uniform({1, 1, 2, 3}))
        .Fails(kBad, "4"),
    Row(LRNGrad{}).Inputs(Uniform({3}), Uniform({3}), Uniform({3})).Fails(kBad, "rank 4"),
};

}  // namespace
}  // namespace penstock::rows
