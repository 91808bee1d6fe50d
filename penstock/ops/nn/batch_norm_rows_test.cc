#include "penstock/ops/nn/batch_norm.h"
#include "penstock/ops/nn/batch_norm_grad.h"
#include "penstock/ops/nn/layer_norm.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

const OpRows kBatchNormRows{
    Row(FusedBatchNormV3{.epsilon = 0})
        .Inputs(Values<float>({1, 1, 4, 1}, {1, 3, 1, 3}), Vector<float>({2}), Vector<float>({1}),
                Empty({0}), Empty({0}))
        .Expect(Values<float>({1, 1, 4, 1}, {-1, 3, -1, 3}), Vector<float>({2}),
                Vector<float>({4.0f / 3}), Vector<float>({2}), Vector<float>({1}),
                Scalar<float>(0)),
    Row(FusedBatchNormV3{.epsilon = 0, .exponential_avg_factor = 0.25f})
        .Inputs(Values<float>({1, 1, 4, 1}, {1, 3, 1, 3}), Vector<float>({2}), Vector<float>({1}),
                Vector<float>({10}), Vector<float>({4}))
        .Expect(Values<float>({1, 1, 4, 1}, {-1, 3, -1, 3}), Vector<float>({8}),
                Vector<float>({10.0f / 3}), Vector<float>({2}), Vector<float>({1}),
                Scalar<float>(0))
        .Named("running_averages"),
    Row(FusedBatchNormV3{.epsilon = 0, .is_training = false})
        .Inputs(Values<float>({1, 1, 2, 1}, {1, 3}), Vector<float>({2}), Vector<float>({1}),
                Vector<float>({2}), Vector<float>({4}))
        .Expect(Values<float>({1, 1, 2, 1}, {0, 2}), Vector<float>({2}), Vector<float>({4}),
                Vector<float>({2}), Vector<float>({4}), Scalar<float>(0))
        .Named("inference"),
    Row(FusedBatchNormV3{.data_format = "NCDHW"})
        .Inputs(Uniform({2, 3, 2, 2, 2}), Uniform({3}), Uniform({3}), Empty({0}), Empty({0}))
        .Named("three_axes"),
    Row(FusedBatchNormV3{})
        .Inputs(Uniform<bfloat16>({2, 9, 8, 300}), Uniform({300}), Uniform({300}), Empty({0}),
                Empty({0}))
        .Tolerance(1e-2),
    Row(FusedBatchNormV3{})
        .Inputs(Uniform({1, 2, 2, 3}), Uniform({2}), Uniform({3}), Empty({0}), Empty({0}))
        .Fails(kBad, "3 channels"),
    Row(FusedBatchNormV3{.is_training = false})
        .Inputs(Uniform({1, 2, 2, 3}), Uniform({3}), Uniform({3}), Empty({0}), Empty({0}))
        .Fails(kBad, "3 channels"),
    Row(FusedBatchNormV2{0.001f, 1, "NCHW"})
        .Inputs(Uniform<half>({2, 3, 20, 30}), Uniform({3}), Uniform({3}), Empty({0}), Empty({0}))
        .Tolerance(1e-2),
    Row(FusedBatchNormV2{})
        .Inputs(Uniform({2, 3}), Uniform({3}), Uniform({3}), Empty({0}), Empty({0}))
        .Fails(kBad, "rank 4"),
    Row(FusedBatchNormV2{0.001f, 0.5f})
        .Inputs(Uniform({2, 1, 1, 3}), Uniform({3}), Uniform({3}), Empty({0}), Empty({0}))
        .Fails(kBad, "3 channels"),
    Row(FusedBatchNorm{})
        .Inputs(Uniform({70, 2, 2, 3}), Uniform({3}), Uniform({3}), Empty({0}), Empty({0})),
    Row(FusedBatchNorm{})
        .Inputs(Uniform({2, 1, 1, 3}), Uniform({3}), Uniform({4}), Empty({0}), Empty({0}))
        .Fails(kBad, "3 channels"),
    Row(FusedBatchNorm{})
        .Inputs(Uniform({2, 1, 1, 3}), Uniform({3}), Uniform({3}), Uniform({}), Empty({0}))
        .Fails(kBad, "mean"),
};

const OpRows kBatchNormGradRows{
    Row(FusedBatchNormGrad{})
        .Inputs(Uniform({2, 2, 3, 3}), Uniform({2, 2, 3, 3}), Uniform({3}), Uniform({3}),
                Uniform({3}, 1, 2)),
    Row(FusedBatchNormGrad{})
        .Inputs(Empty({0, 2, 3, 2}), Empty({0, 2, 3, 2}), Uniform({2}), Uniform({2}),
                Uniform({2}, 1, 2))
        .Expect(Empty({0, 2, 3, 2}), Vector<float>({0, 0}), Vector<float>({0, 0}), Empty({0}),
                Empty({0})),
    Row(FusedBatchNormGrad{})
        .Inputs(Uniform({2, 2, 3, 3}), Uniform({2, 2, 3, 4}), Uniform({3}), Uniform({3}),
                Uniform({3}))
        .Fails(kBad, "4"),
    Row(FusedBatchNormGrad{})
        .Inputs(Uniform({2, 2, 3, 3}), Uniform({2, 2, 3, 3}), Uniform({2}), Uniform({3}),
                Uniform({3}))
        .Fails(kBad, "3 channels"),
    Row(FusedBatchNormGradV2{0.001f, "NCHW"})
        .Inputs(Uniform<half>({2, 3, 2, 3}), Uniform<half>({2, 3, 2, 3}), Uniform({3}),
                Uniform({3}), Uniform({3}, 1, 2)),
    Row(FusedBatchNormGradV2{})
        .Inputs(Uniform({2, 3}), Uniform({2, 3}), Uniform({3}), Uniform({3}), Uniform({3}))
        .Fails(kBad, "rank 4"),
    Row(FusedBatchNormGradV2{})
        .Inputs(Uniform({2, 2, 3, 3}), Uniform({2, 2, 3, 3}), Uniform({3}), Uniform({4}),
                Uniform({3}))
        .Fails(kBad, "3 channels"),
    Row(FusedBatchNormGradV3{.data_format = "NDHWC", .is_training = false})
        .Inputs(Uniform({1, 2, 2, 3, 3}), Uniform({1, 2, 2, 3, 3}), Uniform({3}), Uniform({3}),
                Uniform({3}, 1, 2), Scalar<float>(0)),
    Row(FusedBatchNormGradV3{})
        .Inputs(Uniform({2, 2, 3, 3}), Uniform({2, 2, 3, 3}), Uniform({3}), Uniform({3}),
                Uniform({1}), Empty({0}))
        .Fails(kBad, "3 channels"),
    Row(FusedBatchNormGradV3{})
        .Inputs(Uniform({3}), Uniform({3}), Uniform({3}), Uniform({3}), Uniform({3}), Empty({0}))
        .Fails(kBad, "rank 4"),
};

const OpRows kLayerNormRows{
    Row(FusedLayerNorm{.epsilon = 0})
        .Inputs(Values<float>({2, 2}, {1, 3, 6, 2}), Vector<float>({2, 1}), Vector<float>({1, 0}))
        .Expect(Values<float>({2, 2}, {-1, 1, 3, -1})),
    Row(FusedLayerNorm{.epsilon = 0.1f})
        .Inputs(Uniform({3, 2, 2000}), Uniform({2000}), Uniform({2000})),
    Row(FusedLayerNorm{}).Inputs(Empty({0, 3}), Uniform({3}), Uniform({3})).Expect(Empty({0, 3})),
    Row(FusedLayerNorm{})
        .Inputs(Uniform({2, 3}), Uniform({2}), Uniform({3}))
        .Fails(kBad, "3 columns"),
    Row(FusedLayerNorm{}).Inputs(Scalar<float>(1), Uniform({1}), Uniform({1})).Fails(kBad, "x"),
};

}  // namespace
}  // namespace penstock::rows
