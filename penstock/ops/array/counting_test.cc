#include "penstock/ops/array/counting.h"

#include <cmath>

#include "penstock/ops/array/ordering.h"
#include "penstock/ops/array/roll.h"
#include "penstock/ops/concat.h"
#include "penstock/ops/cumulative.h"
#include "penstock/ops/scatter_nd.h"
#include "penstock/ops/slice.h"
#include "penstock/ops/testing/rows.h"
#include "penstock/ops/top_k.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

Value Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }
Value Longs(std::initializer_list<int64_t> values) { return Vector<int64_t>(values); }
Value Floats(std::initializer_list<float> values) { return Vector<float>(values); }
Value Pairs(std::initializer_list<int64_t> values) {
  return Values<int64_t>({static_cast<int64_t>(values.size()) / 2, 2}, values);
}

const OpRows kCountRows{
    Row(Bincount{})
        .Inputs(Ints({1, 2, 2, 9}), Scalar<int32_t>(4), Floats({1, 2, 3, 4}))
        .Expect(Floats({0, 1, 5, 0})),
    Row(Bincount{}).Inputs(Ints({-1}), Scalar<int32_t>(4), Empty({0})).Fails(kBad, "-1"),
    Row(Bincount{}).Inputs(Ints({1}), Scalar<int32_t>(-4), Empty({0})).Fails(kBad, "-4"),
    Row(Bincount{}).Inputs(Ints({1, 2}), Scalar<int32_t>(4), Uniform({1})).Fails(kBad, "weights"),
    Row(DenseBincount{})
        .Inputs(Values<int32_t>({2, 2}, {1, 2, 2, 9}), Scalar<int32_t>(3), Empty<int64_t>({0}))
        .Expect(Values<int64_t>({2, 3}, {0, 1, 1, 0, 0, 1})),
    Row(DenseBincount{.binary_output = true})
        .Inputs(Longs({1, 1}), Scalar<int64_t>(2), Floats({3, 4}))
        .Expect(Floats({0, 1})),
    Row(DenseBincount{})
        .Inputs(Values<int32_t>({1, 1, 1}, {1}), Scalar<int32_t>(3), Empty({0}))
        .Fails(kBad, "matrix"),
    Row(DenseBincount{}).Inputs(Ints({-2}), Scalar<int32_t>(3), Empty({0})).Fails(kBad, "-2"),
    Row(SparseBincount{})
        .Inputs(Pairs({0, 0, 0, 2, 1, 1}), Ints({1, 1, 3}), Longs({2, 3}), Scalar<int32_t>(4),
                Floats({.5, 1, 2}))
        .Expect(Values<float>({2, 4}, {0, 1.5, 0, 0, 0, 0, 0, 2})),
    Row(SparseBincount{})
        .Inputs(Pairs({5, 0}), Ints({1}), Longs({2, 3}), Scalar<int32_t>(4), Empty({0}))
        .Fails(kBad, "[5, 0]"),
    Row(SparseBincount{})
        .Inputs(Pairs({0, 0}), Ints({-1}), Longs({2, 3}), Scalar<int32_t>(4), Empty({0}))
        .Fails(kBad, "-1"),
    Row(RaggedBincount{})
        .Inputs(Longs({0, 2, 2, 3}), Ints({1, 1, 2}), Scalar<int32_t>(3), Empty({0}))
        .Expect(Values<float>({3, 3}, {0, 2, 0, 0, 0, 0, 0, 0, 1})),
    Row(RaggedBincount{})
        .Inputs(Longs({1, 3}), Ints({1, 1, 2}), Scalar<int32_t>(3), Empty({0}))
        .Fails(kBad, "begin with 0"),
    Row(RaggedBincount{})
        .Inputs(Longs({0, 4, 3}), Ints({1, 1, 2}), Scalar<int32_t>(3), Empty({0}))
        .Fails(kBad, "sorted"),
};

const OpRows kOrderingRows{
    Row(Bucketize{.boundaries = {0, 3, 10}})
        .Inputs(Floats({-5, 0, 1, 5, 10, NAN}))
        .Expect(Ints({0, 1, 1, 2, 3, 3})),
    Row(Bucketize{.boundaries = {3, 1}}).Inputs(Floats({1})).Fails(kBad, "sorted"),
    Row(LowerBound{})
        .Inputs(Values<int32_t>({1, 4}, {1, 2, 3, 9}), Values<int32_t>({1, 4}, {0, 2, 9, 10}))
        .Expect(Values<int32_t>({1, 4}, {0, 1, 3, 4})),
    Row(UpperBound{})
        .Attr("out_type", DType::kInt64)
        .Inputs(Values<float>({1, 4}, {1, 2, 3, 9}), Values<float>({1, 4}, {0, 2, 9, 10}))
        .Expect(Values<int64_t>({1, 4}, {0, 2, 4, 4})),
    Row(UpperBound{}).Inputs(Uniform({1, 4}), Uniform({2, 4})).Fails(kBad, "rows"),
    Row(LowerBound{}).Inputs(Uniform({4}), Uniform({1, 4})).Fails(kBad, "rank 2"),
    Row(HistogramFixedWidth{})
        .Inputs(Floats({-1, 0, 1.5, 2, 5, 15}), Floats({0, 5}), Scalar<int32_t>(5))
        .Expect(Ints({2, 1, 1, 0, 2})),
    Row(HistogramFixedWidth{})
        .Inputs(Floats({NAN}), Floats({0, 5}), Scalar<int32_t>(5))
        .Fails(kBad, "NaN"),
    Row(HistogramFixedWidth{})
        .Inputs(Floats({1}), Floats({5, 5}), Scalar<int32_t>(5))
        .Fails(kBad, "5 and 5"),
    Row(HistogramFixedWidth{})
        .Inputs(Floats({1}), Floats({0, 5}), Scalar<int32_t>(0))
        .Fails(kBad, "got 0"),
    Row(NthElement{}).Inputs(Uniform({3, 5}), Scalar<int32_t>(1)).Gradient(),
    Row(NthElement{.reverse = true})
        .Inputs(Ints({3, 1, 2}), Scalar<int32_t>(0))
        .Expect(Scalar<int32_t>(3)),
    Row(NthElement{}).Inputs(Uniform({3}), Scalar<int32_t>(3)).Fails(kBad, "n = 3"),
    Row(NthElement{}).Inputs(Uniform({3}), Scalar<int32_t>(-1)).Fails(kBad, "-1"),
    Row(UnravelIndex{})
        .Inputs(Ints({2, 5, 7}), Ints({3, 3}))
        .Expect(Values<int32_t>({2, 3}, {0, 1, 2, 2, 2, 1})),
    Row(UnravelIndex{}).Inputs(Scalar<int64_t>(22), Longs({7, 6})).Expect(Longs({3, 4})),
    Row(UnravelIndex{}).Inputs(Ints({9}), Ints({3, 3})).Fails(kBad, "below 9"),
    Row(UnravelIndex{}).Inputs(Ints({1}), Ints({3, 0})).Fails(kBad, "got 0"),
};

const OpRows kMoveRows{
    Row(Roll{})
        .Inputs(Values<int32_t>({2, 3}, {0, 1, 2, 3, 4, 5}), Ints({1, -1}), Ints({0, 1}))
        .Expect(Values<int32_t>({2, 3}, {4, 5, 3, 1, 2, 0})),
    Row(Roll{}).Inputs(Uniform({3, 4}), Ints({5, 2}), Ints({-1, -1})).Gradient(),
    Row(Roll{}).Inputs(Empty({0, 3}), Scalar<int32_t>(1), Scalar<int32_t>(0)).Expect(Empty({0, 3})),
    Row(Roll{}).Inputs(Uniform({3}), Ints({1}), Scalar<int32_t>(0)).Fails(kBad, "shift"),
    Row(Roll{}).Inputs(Uniform({3}), Ints({1}), Ints({1})).Fails(kBad, "1"),
    Row(ParallelConcat{.shape = {2, 2}})
        .Inputs(Values<float>({1, 2}, {1, 2}), Values<float>({1, 2}, {3, 4}))
        .Expect(Values<float>({2, 2}, {1, 2, 3, 4})),
    Row(ParallelConcat{.shape = {3, 2}})
        .Inputs(Uniform({1, 2}), Uniform({1, 2}))
        .Fails(kBad, "row for each of 2"),
    Row(ParallelConcat{.shape = {1, 2}}).Inputs(Uniform({1, 3})).Fails(kBad, "[1,2], got"),
    Row(TopKV2{.sorted = false})
        .Inputs(Floats({1, 9, 3, 7, 8, 2}), Scalar<int32_t>(3))
        .Expect(Floats({7, 9, 8}), Ints({3, 1, 4})),
    Row(TopKV2{}).Inputs(Uniform({3, 500}), Scalar<int32_t>(7)),
    Row(CumulativeLogsumexp{})
        .Inputs(Floats({1, 2, -HUGE_VALF, 3}), Scalar<int32_t>(0))
        .Expect(Floats({1, 2.31326175, 2.31326175, 3.40760612}))
        .NoGradient(),
    Row(CumulativeLogsumexp{.exclusive = true, .reverse = true})
        .Inputs(Uniform({2, 5}), Scalar<int32_t>(1))
        .NoGradient(),
    Row(CumulativeLogsumexp{}).Inputs(Uniform({2, 5}), Scalar<int32_t>(1)).Gradient(),
    Row(CumulativeLogsumexp{}).Inputs(Uniform({2}), Scalar<int32_t>(1)).Fails(kBad, "1"),
    Row(TensorScatterMax{})
        .Inputs(Uniform({4, 2}), Values<int32_t>({2, 1}, {3, 3}), Uniform({2, 2}))
        .Gradient(),
    Row(TensorScatterMin{})
        .Inputs(Ints({1, 5}), Values<int32_t>({2, 1}, {0, 1}), Ints({3, 3}))
        .Expect(Ints({1, 3})),
    Row(TensorScatterMin{})
        .Inputs(Uniform({4}), Values<int32_t>({1, 1}, {4}), Uniform({1}))
        .Fails(kBad, "[4]"),
    Row(TensorScatterMax{})
        .Inputs(Uniform({4}), Values<int32_t>({1, 1}, {0}), Uniform({2}))
        .Fails(kBad, "[1]"),
    Row(TensorStridedSliceUpdate{})
        .Inputs(Uniform({3, 4}), Ints({0, 1}), Ints({2, 4}), Ints({1, 2}), Uniform({2, 1}))
        .Gradient(),
    Row(TensorStridedSliceUpdate{.shrink_axis_mask = 1})
        .Inputs(Uniform({3, 4}), Ints({1}), Ints({2}), Ints({1}), Uniform({1, 4}))
        .Gradient(),
    Row(TensorStridedSliceUpdate{})
        .Inputs(Uniform({3, 4}), Ints({0}), Ints({2}), Ints({1}), Uniform({3, 4}))
        .Fails(kBad, "broadcast"),
    Row(TensorStridedSliceUpdate{})
        .Inputs(Uniform({3, 4}), Ints({0}), Ints({2}), Ints({0}), Uniform({}))
        .Fails(kBad, "stride"),
};

}  // namespace
}  // namespace penstock::rows
