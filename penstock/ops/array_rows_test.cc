#include "penstock/ops/broadcast_ops.h"
#include "penstock/ops/concat.h"
#include "penstock/ops/fill.h"
#include "penstock/ops/gather.h"
#include "penstock/ops/pad.h"
#include "penstock/ops/reshape.h"
#include "penstock/ops/slice.h"
#include "penstock/ops/split.h"
#include "penstock/ops/testing/rows.h"
#include "penstock/ops/transpose.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;
using Ints = std::initializer_list<int32_t>;

Value Axes(Ints values) { return Vector<int32_t>(values); }

const OpRows kReshapeRows{
    Row(Reshape{}).Inputs(Uniform({2, 6}), Axes({3, -1})).Gradient(),
    Row(Reshape{}).Inputs(Uniform({2, 6}), Vector<int64_t>({12})).Gradient().Named("int64"),
    Row(Reshape{}).Inputs(Uniform({1, 1}), Empty<int32_t>({0})).Gradient().Named("to_scalar"),
    Row(Reshape{}).Inputs(Empty({0, 6}), Axes({3, 0})).Expect(Empty({3, 0})).Named("empty"),
    Row(Reshape{})
        .Inputs(Vector<std::string>({"a", "b"}), Axes({2, 1}))
        .Expect(Values<std::string>({2, 1}, {"a", "b"})),
    Row(Reshape{}).Inputs(Uniform({2, 6}), Axes({5, -1})).Fails(kBad, "5").Named("divides"),
    Row(Reshape{}).Inputs(Uniform({2, 6}), Axes({-1, -1})).Fails(kBad, "-1").Named("two_unknown"),
    Row(Reshape{}).Inputs(Uniform({2, 6}), Axes({7})).Fails(kBad, "7").Named("count"),
    Row(Reshape{}).Inputs(Uniform({2, 6}), Axes({-3, 4})).Fails(kBad, "-3").Named("negative"),
    Row(Squeeze{}).Inputs(Uniform({1, 3, 1, 2})).Gradient(),
    Row(Squeeze{.squeeze_dims = {-2}}).Inputs(Uniform({1, 3, 1, 2})).Gradient().Named("axis"),
    Row(Squeeze{.squeeze_dims = {1}}).Inputs(Uniform({1, 3})).Fails(kBad, "3"),
    Row(ExpandDims{}).Inputs(Uniform({2, 3}), Scalar<int32_t>(-1)).Gradient(),
    Row(ExpandDims{}).Inputs(Uniform({2, 3}), Scalar<int32_t>(4)).Fails(kBad, "4"),
    Row(ShapeOp{}).Inputs(Uniform({2, 3})).Expect(Axes({2, 3})),
    Row(ShapeOp{.out_type = DType::kInt64}).Inputs(Scalar(1.f)).Expect(Empty<int64_t>({0})),
    Row(Size{}).Inputs(Uniform({2, 3})).Expect(Scalar<int32_t>(6)),
    Row(Rank{}).Inputs(Uniform({2, 3})).Expect(Scalar<int32_t>(2)),
};

const OpRows kConcatRows{
    Row(ConcatV2{}).Inputs(Uniform({2, 3}), Uniform({2, 1}), Scalar<int32_t>(1)).Gradient(),
    Row(ConcatV2{})
        .Inputs(Uniform({2, 3}), Empty({0, 3}), Scalar<int32_t>(-2))
        .Gradient()
        .Named("empty"),
    Row(ConcatV2{})
        .Inputs(Vector<std::string>({"a"}), Vector<std::string>({"b", "c"}), Scalar<int32_t>(0))
        .Expect(Vector<std::string>({"a", "b", "c"})),
    Row(ConcatV2{})
        .Inputs(Uniform({400, 90}), Uniform({400, 91}), Scalar<int32_t>(1))
        .NoGradient()
        .Named("parallel"),
    Row(ConcatV2{})
        .Inputs(Uniform({2, 3}), Uniform({3, 1}), Scalar<int32_t>(1))
        .Fails(kBad, "[3,1]")
        .Named("shapes"),
    Row(ConcatV2{})
        .Inputs(Uniform({2, 3}), Uniform({2, 1}), Scalar<int32_t>(2))
        .Fails(kBad, "2")
        .Named("axis"),
    Row(ConcatV2{})
        .Inputs(Scalar(1.f), Scalar(2.f), Scalar<int32_t>(0))
        .Fails(kBad, "")
        .Named("scalars"),
    Row(Pack{.axis = 1}).Inputs(Uniform({2, 3}), Uniform({2, 3})).Gradient(),
    Row(Pack{})
        .Inputs(Scalar(1.f), Scalar(2.f))
        .Expect(Vector<float>({1, 2}))
        .Gradient()
        .Named("scalars"),
    Row(Pack{}).Inputs(Uniform({2}), Uniform({3})).Fails(kBad, "[3]"),
    Row(Pack{.axis = 2}).Inputs(Uniform({2}), Uniform({2})).Fails(kBad, "2").Named("axis"),
    Row(Unpack{.num = 2}).Inputs(Uniform({2, 3})).Gradient(),
    Row(Unpack{.num = 3}).Inputs(Uniform({2, 3})).Fails(kBad, "3"),
    Row(Split{.num_split = 3}).Inputs(Scalar<int32_t>(1), Uniform({2, 6})).Gradient(),
    Row(Split{.num_split = 4})
        .Inputs(Scalar<int32_t>(1), Uniform({2, 6}))
        .Fails(kBad, "4")
        .Named("divides"),
    Row(Split{.num_split = 2})
        .Inputs(Scalar<int32_t>(5), Uniform({2, 6}))
        .Fails(kBad, "5")
        .Named("axis"),
    Row(SplitV{.num_split = 2})
        .Inputs(Uniform({5, 2}), Axes({2, -1}), Scalar<int32_t>(0))
        .Gradient(),
    Row(SplitV{.num_split = 2})
        .Inputs(Uniform({5, 2}), Axes({2, 2}), Scalar<int32_t>(0))
        .Fails(kBad, ""),
};

const OpRows kSliceRows{
    Row(Slice{}).Inputs(Uniform({4, 5}), Axes({1, 2}), Axes({2, -1})).Gradient(),
    Row(Slice{}).Inputs(Uniform({4, 5}), Axes({4, 0}), Axes({0, 5})).Gradient().Named("empty"),
    Row(Slice{})
        .Inputs(Uniform({4, 5}), Axes({3, 0}), Axes({2, 5}))
        .Fails(kBad, "")
        .Named("beyond"),
    Row(Slice{})
        .Inputs(Uniform({4, 5}), Axes({-1, 0}), Axes({1, 5}))
        .Fails(kBad, "-1")
        .Named("negative"),
    Row(Slice{}).Inputs(Uniform({4, 5}), Axes({0}), Axes({1})).Fails(kBad, "").Named("rank"),
    Row(StridedSlice{})
        .Inputs(Uniform({6, 5}), Axes({1, 4}), Axes({6, 0}), Axes({2, -2}))
        .Gradient(),
    Row(StridedSlice{.shrink_axis_mask = 1})
        .Inputs(Uniform({6, 5}), Axes({-1}), Axes({0}), Axes({1}))
        .Gradient()
        .Named("row"),
    Row(StridedSlice{.ellipsis_mask = 1, .new_axis_mask = 2})
        .Inputs(Uniform({2, 3}), Axes({0, 0}), Axes({0, 0}), Axes({1, 1}))
        .Gradient()
        .Named("new_axis"),
    Row(StridedSlice{})
        .Inputs(Uniform({6}), Axes({0}), Axes({6}), Axes({0}))
        .Fails(kBad, "stride")
        .Named("zero_stride"),
    Row(StridedSlice{.shrink_axis_mask = 1})
        .Inputs(Uniform({6}), Axes({6}), Axes({7}), Axes({1}))
        .Fails(kBad, "6")
        .Named("beyond"),
    Row(Pad{}).Inputs(Uniform({2, 3}), Values<int32_t>({2, 2}, {1, 0, 0, 2})).Gradient(),
    Row(Pad{}).Inputs(Uniform({2}), Values<int32_t>({1, 2}, {-1, 0})).Fails(kBad, "-1"),
    Row(PadV2{}).Inputs(Uniform({2}), Values<int32_t>({1, 2}, {1, 1}), Scalar(9.f)).Gradient(),
    Row(MirrorPad{.mode = "REFLECT"})
        .Inputs(Vector<float>({1, 2, 3}), Values<int32_t>({1, 2}, {2, 1}))
        .Expect(Vector<float>({3, 2, 1, 2, 3, 2}))
        .Gradient(),
    Row(MirrorPad{.mode = "REFLECT"})
        .Inputs(Uniform({2}), Values<int32_t>({1, 2}, {2, 0}))
        .Fails(kBad, "2"),
};

const OpRows kGatherRows{
    Row(GatherV2{}).Inputs(Uniform({5, 3}), Axes({4, 0, 4}), Scalar<int32_t>(0)).Gradient(),
    Row(GatherV2{})
        .Inputs(Uniform({2, 5}), Values<int32_t>({2, 2}, {1, 0, 3, 3}), Scalar<int32_t>(1))
        .Gradient()
        .Named("axis"),
    Row(GatherV2{.batch_dims = 1})
        .Inputs(Uniform({2, 5}), Values<int32_t>({2, 2}, {1, 0, 3, 3}), Scalar<int32_t>(1))
        .Named("batch"),
    Row(GatherV2{})
        .Inputs(Uniform({5, 3}), Empty<int32_t>({0}), Scalar<int32_t>(0))
        .Expect(Empty({0, 3}))
        .Named("empty"),
    Row(GatherV2{})
        .Inputs(Vector<std::string>({"a", "b"}), Axes({1, 1}), Scalar<int32_t>(0))
        .Expect(Vector<std::string>({"b", "b"})),
    Row(GatherV2{})
        .Inputs(Uniform({5, 3}), Axes({5}), Scalar<int32_t>(0))
        .Fails(kBad, "5")
        .Named("beyond"),
    Row(GatherV2{})
        .Inputs(Uniform({5, 3}), Axes({-1}), Scalar<int32_t>(0))
        .Fails(kBad, "-1")
        .Named("negative"),
    Row(GatherV2{})
        .Inputs(Uniform({5, 3}), Axes({0}), Scalar<int32_t>(2))
        .Fails(kBad, "2")
        .Named("axis"),
    Row(GatherNd{}).Inputs(Uniform({3, 4}), Values<int32_t>({2, 2}, {0, 1, 2, 3})).Gradient(),
    Row(GatherNd{}).Inputs(Uniform({3, 4}), Values<int32_t>({1, 2}, {3, 0})).Fails(kBad, "3"),
    Row(Where{})
        .Inputs(Values<bool>({2, 2}, {true, false, true, true}))
        .Expect(Values<int64_t>({3, 2}, {0, 0, 1, 0, 1, 1})),
    Row(Where{}).Inputs(Empty<bool>({0, 2})).Expect(Empty<int64_t>({0, 2})).Named("empty"),
};

const OpRows kTransposeRows{
    Row(Transpose{}).Inputs(Uniform({2, 3, 4}), Axes({2, 0, 1})).Gradient(),
    Row(Transpose{}).Inputs(Uniform({130, 260}), Axes({1, 0})).NoGradient().Named("parallel"),
    Row(Transpose{}).Inputs(Empty({2, 0}), Axes({1, 0})).Expect(Empty({0, 2})).Named("empty"),
    Row(Transpose{}).Inputs(Uniform({2, 3}), Axes({0, 0})).Fails(kBad, "0").Named("twice"),
    Row(Transpose{}).Inputs(Uniform({2, 3}), Axes({0, 2})).Fails(kBad, "2").Named("beyond"),
    Row(Transpose{}).Inputs(Uniform({2, 3}), Axes({0})).Fails(kBad, "").Named("rank"),
    Row(InvertPermutation{}).Inputs(Axes({2, 0, 1})).Expect(Axes({1, 2, 0})),
    Row(InvertPermutation{}).Inputs(Axes({2, 2, 1})).Fails(kBad, "2"),
    Row(ReverseV2{}).Inputs(Uniform({2, 3}), Axes({-1})).Gradient(),
    Row(ReverseV2{}).Inputs(Uniform({2, 3}), Axes({1, 1})).Fails(kBad, "1"),
};

const OpRows kFillRows{
    Row(Fill{})
        .Inputs(Axes({2, 2}), Scalar(3.f))
        .Expect(Values<float>({2, 2}, {3, 3, 3, 3}))
        .Gradient(),
    Row(Fill{}).Inputs(Axes({0}), Scalar(3.f)).Expect(Empty({0})).Named("empty"),
    Row(Fill{}).Inputs(Axes({-1}), Scalar(3.f)).Fails(kBad, "-1"),
    Row(Range{})
        .Inputs(Scalar<int32_t>(5), Scalar<int32_t>(0), Scalar<int32_t>(-2))
        .Expect(Axes({5, 3, 1})),
    Row(Range{})
        .Inputs(Scalar<int32_t>(0), Scalar<int32_t>(5), Scalar<int32_t>(0))
        .Fails(kBad, "")
        .Named("zero"),
    Row(OneHot{})
        .Inputs(Vector<int32_t>({1, -1}), Scalar<int32_t>(2), Scalar(1.f), Scalar(0.f))
        .Expect(Values<float>({2, 2}, {0, 1, 0, 0})),
    Row(OneHot{})
        .Inputs(Axes({1}), Scalar<int32_t>(-2), Scalar(1.f), Scalar(0.f))
        .Fails(kBad, "-2"),
    Row(BroadcastTo{}).Inputs(Uniform({3, 1}), Axes({2, 3, 4})).Gradient(),
    Row(BroadcastTo{}).Inputs(Uniform({3}), Axes({2})).Fails(kBad, "[3]"),
    Row(Tile{}).Inputs(Uniform({2, 3}), Axes({2, 1})).Gradient(),
    Row(Tile{}).Inputs(Uniform({2, 3}), Axes({0, 1})).Expect(Empty({0, 3})).Named("empty"),
    Row(Tile{}).Inputs(Uniform({2, 3}), Axes({2, -1})).Fails(kBad, "-1"),
};

}  // namespace
}  // namespace penstock::rows
