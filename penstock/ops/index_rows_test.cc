#include "penstock/ops/broadcast_ops.h"
#include "penstock/ops/concat.h"
#include "penstock/ops/fill.h"
#include "penstock/ops/gather.h"
#include "penstock/ops/matrix_diag.h"
#include "penstock/ops/pad.h"
#include "penstock/ops/reshape.h"
#include "penstock/ops/scatter_nd.h"
#include "penstock/ops/slice.h"
#include "penstock/ops/split.h"
#include "penstock/ops/testing/rows.h"
#include "penstock/ops/transpose.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

Value Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }
Value Longs(std::initializer_list<int64_t> values) { return Vector<int64_t>(values); }

const OpRows kScatterRows{
    Row(ScatterNd{})
        .Inputs(Values<int32_t>({3, 1}, {1, 3, 1}), Vector<float>({1, 2, 3}), Ints({4}))
        .Expect(Vector<float>({0, 4, 0, 2})),
    Row(ScatterNd{})
        .Inputs(Values<int64_t>({2, 1}, {2, 2}), Uniform({2, 3}), Longs({4, 3}))
        .Gradient()
        .Named("slices"),
    Row(ScatterNd{})
        .Inputs(Empty<int32_t>({0, 1}), Empty({0, 3}), Ints({2, 3}))
        .Expect(Values<float>({2, 3}, {0, 0, 0, 0, 0, 0}))
        .Named("empty"),
    Row(ScatterNd{})
        .Inputs(Empty<int32_t>({2, 0}), Uniform({2, 3}), Ints({3}))
        .Gradient()
        .Named("no_axis"),
    Row(ScatterNd{.bad_indices_policy = "IGNORE"})
        .Inputs(Values<int32_t>({2, 1}, {9, 1}), Vector<int32_t>({5, 6}), Ints({2}))
        .Expect(Ints({0, 6}))
        .Named("ignore"),
    Row(ScatterNd{})
        .Inputs(Values<int32_t>({1, 1}, {2}), Vector<float>({1}), Ints({2}))
        .Fails(kBad, "[2]"),
    Row(ScatterNd{})
        .Inputs(Values<int32_t>({1, 1}, {-1}), Vector<float>({1}), Ints({2}))
        .Fails(kBad, "[-1]")
        .Named("negative"),
    Row(ScatterNd{})
        .Inputs(Values<int32_t>({1, 1}, {0}), Vector<float>({1, 2}), Ints({2}))
        .Fails(kBad, "[1]")
        .Named("updates"),
    Row(ScatterNd{})
        .Inputs(Values<int32_t>({1, 2}, {0, 0}), Vector<float>({1}), Ints({2}))
        .Fails(kBad, "rank")
        .Named("depth"),
    Row(TensorScatterUpdate{})
        .Inputs(Uniform({4, 2}), Values<int32_t>({2, 1}, {3, 0}), Uniform({2, 2}))
        .Gradient(),
    Row(TensorScatterUpdate{})
        .Inputs(Vector<std::string>({"a", "b"}), Values<int32_t>({1, 1}, {1}),
                Vector<std::string>({"c"}))
        .Expect(Vector<std::string>({"a", "c"})),
    Row(TensorScatterUpdate{})
        .Inputs(Uniform({4}), Values<int32_t>({1, 1}, {4}), Uniform({1}))
        .Fails(kBad, "[4]"),
    Row(TensorScatterAdd{})
        .Inputs(Uniform({4, 2}), Values<int32_t>({2, 1}, {3, 3}), Uniform({2, 2}))
        .Gradient(),
    Row(TensorScatterAdd{})
        .Inputs(Uniform({4}), Values<int32_t>({1, 1}, {0}), Uniform({2}))
        .Fails(kBad, "[1]"),
    Row(TensorScatterSub{})
        .Inputs(Ints({1, 2}), Values<int32_t>({1, 1}, {1}), Ints({5}))
        .Expect(Ints({1, -3})),
    Row(TensorScatterSub{})
        .Inputs(Uniform({4}), Values<int32_t>({2, 1}, {1, 1}), Uniform({2}))
        .Gradient(),
};

const OpRows kGatherMoreRows{
    Row(Gather{}).Inputs(Uniform({4, 3}), Ints({3, 0})).Gradient(),
    Row(Gather{}).Inputs(Scalar(1.f), Ints({0})).Fails(kBad, "params"),
    Row(Gather{}).Inputs(Uniform({2}), Ints({-1})).Fails(kBad, "-1").Named("negative"),
    Row(GatherV2{.batch_dims = -1})
        .Inputs(Uniform({2, 5}), Values<int32_t>({2, 2}, {4, 0, 1, 1}), Scalar<int32_t>(-1))
        .Gradient()
        .Named("negative_batch"),
    Row(GatherV2{})
        .Inputs(Uniform({3, 4, 2}), Values<int16_t>({2, 2}, {3, 0, 1, 1}), Scalar<int64_t>(1))
        .NoGradient()
        .Named("int16"),
    Row(GatherV2{})
        .Inputs(Empty({3, 0}), Ints({7}), Scalar<int32_t>(0))
        .Fails(kBad, "7")
        .Named("bad_of_empty"),
    Row(GatherV2{.batch_dims = 2})
        .Inputs(Uniform({3, 3}), Values<int32_t>({3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0}),
                Scalar<int32_t>(1))
        .Fails(kBad, "batch_dims")
        .Named("batch_past_axis"),
    Row(GatherNd{}).Inputs(Uniform({3, 2}), Empty<int32_t>({4, 0})).Gradient().Named("no_axis"),
    Row(GatherNd{.bad_indices_policy = "IGNORE"})
        .Inputs(Vector<float>({1, 2}), Values<int32_t>({2, 1}, {5, 1}))
        .Expect(Vector<float>({0, 2}))
        .Named("ignore"),
    Row(GatherNd{}).Inputs(Uniform({3}), Values<int32_t>({1, 2}, {0, 0})).Fails(kBad, "rank"),
    Row(GatherNd{.bad_indices_policy = "MAYBE"})
        .Inputs(Uniform({3}), Values<int32_t>({1, 1}, {0}))
        .Fails(kBad, "MAYBE"),
};

const OpRows kSliceMoreRows{
    Row(StridedSlice{.begin_mask = 1, .end_mask = 1})
        .Inputs(Vector<float>({1, 2, 3}), Ints({0}), Ints({0}), Ints({-1}))
        .Expect(Vector<float>({3, 2, 1}))
        .Named("backwards"),
    Row(StridedSlice{})
        .Inputs(Vector<float>({1, 2, 3}), Longs({-100}), Longs({INT64_MAX}), Longs({INT64_MAX}))
        .Expect(Vector<float>({1}))
        .Named("huge_stride"),
    Row(StridedSlice{})
        .Inputs(Vector<float>({1, 2, 3}), Longs({2}), Longs({INT64_MIN}), Longs({INT64_MIN}))
        .Expect(Vector<float>({3}))
        .Named("huge_backwards"),
    Row(StridedSlice{.begin_mask = 6, .end_mask = 6, .ellipsis_mask = 1, .shrink_axis_mask = 8})
        .Inputs(Uniform({2, 3, 4, 5}), Ints({0, 0, 0, -1}), Ints({0, 0, 0, 0}), Ints({1, 1, 2, 1}))
        .Gradient()
        .Named("all_kinds"),
    Row(StridedSlice{})
        .Inputs(Uniform({4, 2}), Ints({1}), Ints({3}), Ints({1}))
        .Gradient()
        .Named("rows"),
    Row(StridedSlice{})
        .Inputs(Uniform({4}), Ints({0}), Ints({1}), Ints({0}))
        .Fails(kBad, "0")
        .Named("stride"),
    Row(StridedSlice{})
        .Inputs(Uniform({4}), Ints({0, 0}), Ints({1, 1}), Ints({1, 1}))
        .Fails(kBad, "2")
        .Named("many"),
    Row(StridedSlice{.ellipsis_mask = 3})
        .Inputs(Uniform({4}), Ints({0, 0}), Ints({1, 1}), Ints({1, 1}))
        .Fails(kBad, "ellipsis"),
    Row(StridedSliceGrad{.shrink_axis_mask = 2})
        .Inputs(Ints({3, 2}), Ints({0, 1}), Ints({3, 2}), Ints({2, 1}), Vector<float>({5, 6}))
        .Expect(Values<float>({3, 2}, {0, 5, 0, 0, 0, 6})),
    Row(StridedSliceGrad{})
        .Inputs(Ints({3}), Ints({0}), Ints({2}), Ints({1}), Uniform({2}))
        .Gradient()
        .Named("gradient"),
    Row(StridedSliceGrad{})
        .Inputs(Ints({3}), Ints({0}), Ints({2}), Ints({1}), Uniform({3}))
        .Fails(kBad, ""),
    Row(StridedSliceGrad{})
        .Inputs(Ints({-3}), Ints({0}), Ints({2}), Ints({1}), Uniform({2}))
        .Fails(kBad, "-3"),
};

const OpRows kTransposeMoreRows{
    Row(ConjugateTranspose{})
        .Inputs(Values<complex64>({1, 2}, {{1, 2}, {3, -4}}), Ints({1, 0}))
        .Expect(Values<complex64>({2, 1}, {{1, -2}, {3, 4}})),
    Row(ConjugateTranspose{}).Inputs(Uniform({2, 3}), Ints({0, 0})).Fails(kBad, "twice"),
    Row(Reverse{})
        .Inputs(Values<int32_t>({2, 2}, {1, 2, 3, 4}), Vector<bool>({true, false}))
        .Expect(Values<int32_t>({2, 2}, {3, 4, 1, 2})),
    Row(Reverse{}).Inputs(Uniform({2, 2}), Vector<bool>({true})).Fails(kBad, "dims"),
    Row(ReverseSequence{.seq_dim = 1})
        .Inputs(Values<float>({2, 3}, {1, 2, 3, 4, 5, 6}), Longs({2, 3}))
        .Expect(Values<float>({2, 3}, {2, 1, 3, 6, 5, 4})),
    Row(ReverseSequence{.seq_dim = 0, .batch_dim = 1})
        .Inputs(Uniform({3, 2, 2}), Longs({0, 3}))
        .Gradient(),
    Row(ReverseSequence{.seq_dim = 1}).Inputs(Uniform({2, 3}), Longs({4, 0})).Fails(kBad, "4"),
    Row(ReverseSequence{.seq_dim = 1}).Inputs(Uniform({2, 3}), Longs({1})).Fails(kBad, "1"),
    Row(ReverseSequence{.seq_dim = 0}).Inputs(Uniform({2, 3}), Longs({1, 1})).Fails(kBad, "differ"),
};

const OpRows kShapeMoreRows{
    Row(ShapeN{}).Inputs(Uniform({2, 3}), Scalar(1.f)).Expect(Ints({2, 3}), Empty<int32_t>({0})),
    Row(Concat{}).Inputs(Scalar<int32_t>(-1), Uniform({2, 3}), Uniform({2, 1})).Gradient(),
    Row(Concat{}).Inputs(Scalar<int32_t>(2), Uniform({2, 3}), Uniform({2, 1})).Fails(kBad, "2"),
    Row(Concat{}).Inputs(Scalar<int32_t>(0), Scalar(1.f), Scalar(2.f)).Fails(kBad, "scalars"),
    Row(ConcatOffset{})
        .Inputs(Scalar<int32_t>(1), Ints({2, 3}), Ints({2, 5}), Ints({2, 1}))
        .Expect(Ints({0, 0}), Ints({0, 3}), Ints({0, 8})),
    Row(ConcatOffset{})
        .Inputs(Scalar<int32_t>(2), Ints({2, 3}), Ints({2, 5}))
        .Fails(kBad, "2")
        .Named("axis"),
    Row(ConcatOffset{})
        .Inputs(Scalar<int32_t>(0), Ints({2, 3}), Ints({2, 5}))
        .Fails(kBad, "3 and 5")
        .Named("disagree"),
    Row(BroadcastArgs{}).Inputs(Ints({3, 1}), Ints({2})).Expect(Ints({3, 2})),
    Row(BroadcastArgs{}).Inputs(Ints({3}), Ints({2})).Fails(kBad, "3"),
    Row(BroadcastArgs{}).Inputs(Ints({-3}), Ints({2})).Fails(kBad, "-3"),
    Row(BroadcastGradientArgs{}).Inputs(Ints({3, 1}), Ints({2})).Expect(Ints({1}), Ints({0})),
    Row(BroadcastGradientArgs{})
        .Inputs(Longs({2, 1}), Longs({2, 1}))
        .Expect(Empty<int64_t>({0}), Empty<int64_t>({0}))
        .Named("equal"),
    Row(BroadcastGradientArgs{}).Inputs(Ints({3}), Ints({2})).Fails(kBad, "3"),
    Row(BroadcastGradientArgs{}).Inputs(Scalar<int32_t>(3), Ints({2})).Fails(kBad, "vector"),
    Row(LinSpace{})
        .Inputs(Scalar(0.f), Scalar(1.f), Scalar<int32_t>(3))
        .Expect(Vector<float>({0, 0.5, 1})),
    Row(LinSpace{})
        .Inputs(Scalar(4.0), Scalar(1.0), Scalar<int64_t>(1))
        .Expect(Vector<double>({4})),
    Row(LinSpace{}).Inputs(Scalar(0.f), Scalar(1.f), Scalar<int32_t>(0)).Fails(kBad, "0"),
    Row(LinSpace{}).Inputs(Ints({}), Scalar(1.f), Scalar<int32_t>(2)).Fails(kBad, ""),
    Row(Range{})
        .Inputs(Scalar<int8_t>(127), Scalar<int8_t>(-128), Scalar<int8_t>(-128))
        .Expect(Vector<int8_t>({127, -1}))
        .Named("extremes"),
    Row(Range{}).Inputs(Scalar(0.f), Scalar(1e30f), Scalar(1e-30f)).Fails(kBad, "2^63"),
    Row(MirrorPadGrad{.mode = "SYMMETRIC"})
        .Inputs(Vector<float>({1, 2, 4}), Values<int32_t>({1, 2}, {1, 0}))
        .Expect(Vector<float>({3, 4})),
    Row(MirrorPadGrad{.mode = "REFLECT"})
        .Inputs(Uniform({4, 5}), Values<int32_t>({2, 2}, {1, 1, 1, 2}))
        .Fails(kBad, "axis 1"),
    Row(MirrorPadGrad{.mode = "REFLECT"})
        .Inputs(Uniform({4, 5}), Values<int32_t>({2, 2}, {1, 1, 1, 1}))
        .Gradient(),
};

const OpRows kMatrixDiagRows{
    Row(MatrixBandPart{})
        .Inputs(Uniform({2, 3, 4}), Scalar<int64_t>(1), Scalar<int64_t>(-1))
        .Gradient(),
    Row(MatrixBandPart{})
        .Inputs(Values<int32_t>({2, 2}, {1, 2, 3, 4}), Scalar<int64_t>(0), Scalar<int64_t>(0))
        .Expect(Values<int32_t>({2, 2}, {1, 0, 0, 4})),
    Row(MatrixBandPart{})
        .Inputs(Uniform({3}), Scalar<int64_t>(0), Scalar<int64_t>(0))
        .Fails(kBad, "rank"),
    Row(MatrixBandPart{})
        .Inputs(Uniform({3, 3}), Scalar<int64_t>(4), Scalar<int64_t>(0))
        .Fails(kBad, "4"),
    Row(MatrixDiag{}).Inputs(Uniform({2, 3})).Gradient(),
    Row(MatrixDiag{}).Inputs(Scalar(1.f)).Fails(kBad, "rank"),
    Row(MatrixDiagPart{}).Inputs(Uniform({2, 3, 4})).Gradient(),
    Row(MatrixDiagPart{}).Inputs(Empty({3, 0})).Expect(Empty({0})).Named("empty"),
    Row(MatrixDiagPart{}).Inputs(Uniform({3})).Fails(kBad, "rank"),
    Row(MatrixSetDiag{}).Inputs(Uniform({2, 4, 3}), Uniform({2, 3})).Gradient(),
    Row(MatrixSetDiag{}).Inputs(Uniform({2, 4, 3}), Uniform({2, 4})).Fails(kBad, "[2,3]"),
    Row(Diag{}).Inputs(Uniform({2, 3})).Gradient(),
    Row(Diag{}).Inputs(Scalar(1.f)).Fails(kBad, "rank"),
    Row(DiagPart{}).Inputs(Uniform({2, 3, 2, 3})).Gradient(),
    Row(DiagPart{}).Inputs(Uniform({2, 3})).Fails(kBad, ""),
    Row(DiagPart{}).Inputs(Uniform({2, 3, 2})).Fails(kBad, "even"),
};

}  // namespace
}  // namespace penstock::rows
