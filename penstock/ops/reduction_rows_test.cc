#include <cmath>
#include <limits>

#include "penstock/ops/arg_max.h"
#include "penstock/ops/cumulative.h"
#include "penstock/ops/reduction.h"
#include "penstock/ops/segment.h"
#include "penstock/ops/testing/rows.h"
#include "penstock/ops/top_k.h"

namespace penstock::rows {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

const OpRows kSumRows{
    Row(Sum{})
        .Inputs(Values<float>({2, 3}, {1, 2, 3, 4, 5, 6}), Vector<int32_t>({1}))
        .Expect(Vector<float>({6, 15}))
        .Gradient(),
    Row(Sum{.keep_dims = true})
        .Inputs(Values<float>({2, 3}, {1, 2, 3, 4, 5, 6}), Vector<int64_t>({-2}))
        .Expect(Values<float>({1, 3}, {5, 7, 9}))
        .Gradient(),
    Row(Sum{}).Inputs(Uniform({3, 4, 5}), Vector<int32_t>({2, 0})).Gradient().Named("two_axes"),
    Row(Sum{}).Inputs(Uniform({3, 4}), Empty<int32_t>({0})).Gradient().Named("no_axes"),
    Row(Sum{}).Inputs(Scalar(3.0f), Empty<int32_t>({0})).Expect(Scalar(3.0f)).Named("scalar"),
    Row(Sum{}).Inputs(Uniform({4}), Scalar<int32_t>(0)).Named("scalar_axis"),
    Row(Sum{})
        .Inputs(Empty({0, 3}), Vector<int32_t>({0}))
        .Expect(Vector<float>({0, 0, 0}))
        .Named("of_nothing"),
    Row(Sum{}).Inputs(Empty({0, 3}), Vector<int32_t>({1})).Expect(Empty({0})).Named("empty"),
    Row(Sum{})
        .Inputs(Values<int8_t>({2}, {127, 1}), Vector<int32_t>({0}))
        .Expect(Scalar<int8_t>(-128))
        .Named("wraps"),
    Row(Sum{}).Inputs(Uniform({2, 3}), Vector<int32_t>({2})).Fails(Code::kInvalidArgument, "got 2"),
    Row(Sum{})
        .Inputs(Uniform({2, 3}), Vector<int32_t>({0, -2}))
        .Fails(Code::kInvalidArgument, "more than once"),
    Row(Sum{})
        .Inputs(Uniform({2, 3}), Values<int32_t>({1, 1}, {0}))
        .Fails(Code::kInvalidArgument, "scalar or a vector"),
    Row(Sum{})
        .Inputs(Uniform({2}), Vector<int64_t>({std::numeric_limits<int64_t>::min()}))
        .Fails(Code::kInvalidArgument, "Invalid reduction dimension"),
};

const OpRows kTopKRows{
    Row(TopKV2{})
        .Inputs(Values<int32_t>({2, 4}, {1, 9, 3, 9, 8, 5, 7, 6}), Scalar<int32_t>(2))
        .Expect(Values<int32_t>({2, 2}, {9, 9, 8, 7}), Values<int32_t>({2, 2}, {1, 3, 0, 2})),
    Row(TopKV2{.sorted = false})
        .Inputs(Vector<int32_t>({7, 8, 3, 9, 5}), Scalar<int32_t>(3))
        .Expect(Vector<int32_t>({7, 8, 9}), Vector<int32_t>({0, 1, 3}))
        .Named("the order of a heap"),
    Row(TopKV2{}).Inputs(Uniform({2, 3, 7}), Scalar<int32_t>(3)).Gradient().Named("ranks"),
    Row(TopKV2{})
        .Inputs(Vector<int16_t>({3, -1, 5}), Scalar<int16_t>(3))
        .Expect(Vector<int16_t>({5, 3, -1}), Vector<int32_t>({2, 0, 1})),
    Row(TopKV2{})
        .Inputs(Uniform({3, 4}), Scalar<int64_t>(0))
        .Expect(Empty({3, 0}), Empty<int32_t>({3, 0}))
        .Named("none"),
    Row(TopKV2{})
        .Inputs(Empty({0, 4}), Scalar<int32_t>(2))
        .Expect(Empty({0, 2}), Empty<int32_t>({0, 2}))
        .Named("empty"),
    Row(TopKV2{})
        .Inputs(Uniform({4}), Scalar<int32_t>(5))
        .Fails(Code::kInvalidArgument, "needed 5"),
    Row(TopKV2{}).Inputs(Uniform({4}), Scalar<int32_t>(-1)).Fails(Code::kInvalidArgument, "k >= 0"),
    Row(TopKV2{}).Inputs(Scalar(1.0f), Scalar<int32_t>(1)).Fails(Code::kInvalidArgument, "rank"),
    Row(TopK{.k = 1}).Inputs(Uniform({3, 5})).Gradient(),
};

const OpRows kOtherReductionRows{
    Row(Mean{}).Inputs(Uniform({3, 4, 5}), Vector<int32_t>({0, 2})).Gradient(),
    Row(Mean{.keep_dims = true}).Inputs(Uniform({3, 4}), Vector<int32_t>({1})).Gradient(),
    Row(Mean{})
        .Inputs(Values<float>({2, 2}, {1, 2, 3, 4}), Vector<int32_t>({0}))
        .Expect(Vector<float>({2, 3})),
    Row(Mean{}).Inputs(Empty({2, 0}), Vector<int32_t>({0})).Expect(Empty({0})).Named("empty"),
    Row(Mean{})
        .Inputs(Uniform({2, 2}), Vector<int32_t>({0, 0}))
        .Fails(Code::kInvalidArgument, "more than once"),
    Row(Prod{}).Inputs(Uniform({3, 2, 4}), Vector<int32_t>({2, 0})).Gradient(),
    Row(Prod{})
        .Inputs(Values<double>({2, 3}, {0, 2, 3, 4, 5, 6}), Vector<int32_t>({1}))
        .Expect(Vector<double>({0, 120}))
        .Gradient()
        .Named("a_zero"),
    Row(Prod{}).Inputs(Empty({0, 2}), Vector<int32_t>({0})).Expect(Vector<float>({1, 1})),
    Row(Prod{}).Inputs(Uniform({2}), Vector<int32_t>({1})).Fails(Code::kInvalidArgument, "got 1"),
    Row(Max{}).Inputs(Uniform({3, 4, 5}), Vector<int32_t>({1})).Gradient(),
    Row(Max{.keep_dims = true})
        .Inputs(Values<int16_t>({2, 2}, {-5, 7, 3, -9}), Vector<int32_t>({1}))
        .Expect(Values<int16_t>({2, 1}, {7, 3})),
    Row(Max{}).Inputs(Empty({0, 2}), Vector<int32_t>({0})).Expect(Vector<float>({-kInf, -kInf})),
    Row(Max{}).Inputs(Uniform({2}), Vector<int32_t>({-2})).Fails(Code::kInvalidArgument, "got -2"),
    Row(Min{}).Inputs(Uniform({3, 4, 5}), Vector<int32_t>({0, 2})).Gradient(),
    Row(Min{}).Inputs(Empty({0}), Vector<int32_t>({0})).Expect(Scalar(kInf)),
    Row(Min{}).Inputs(Uniform({2}), Vector<int32_t>({9})).Fails(Code::kInvalidArgument, "got 9"),
    Row(All{})
        .Inputs(Values<bool>({2, 2}, {true, false, true, true}), Vector<int32_t>({1}))
        .Expect(Vector<bool>({false, true})),
    Row(All{}).Inputs(Empty<bool>({0}), Vector<int32_t>({0})).Expect(Scalar(true)),
    Row(Any{})
        .Inputs(Values<bool>({2, 2}, {true, false, false, false}), Vector<int32_t>({1}))
        .Expect(Vector<bool>({true, false})),
    Row(Any{}).Inputs(Empty<bool>({0}), Vector<int32_t>({0})).Expect(Scalar(false)),
    Row(Any{})
        .Inputs(Values<bool>({1}, {true}), Vector<int32_t>({3}))
        .Fails(Code::kInvalidArgument, "got 3"),
    Row(EuclideanNorm{})
        .Inputs(Values<float>({2, 2}, {3, 4, 0, 2}), Vector<int32_t>({1}))
        .Expect(Vector<float>({5, 2})),
    Row(EuclideanNorm{}).Inputs(Uniform({3, 4}), Vector<int32_t>({0})).Gradient(),
    Row(EuclideanNorm{})
        .Inputs(Values<int32_t>({2}, {3, -4}), Vector<int32_t>({0}))
        .Expect(Scalar<int32_t>(5)),
    Row(EuclideanNorm{})
        .Inputs(Uniform({2}), Vector<int32_t>({1}))
        .Fails(Code::kInvalidArgument, "got 1"),
    Row(L2Loss{}).Inputs(Values<float>({2, 2}, {1, 2, 3, 4})).Expect(Scalar(15.0f)).Gradient(),
    Row(L2Loss{}).Inputs(Empty({0, 3})).Expect(Scalar(0.0f)),
};

const OpRows kArgRows{
    Row(ArgMax{})
        .Inputs(Values<float>({2, 3}, {1, 9, 9, 4, 3, 2}), Scalar<int32_t>(1))
        .Expect(Vector<int64_t>({1, 0})),
    Row(ArgMax{})
        .Inputs(Values<int8_t>({3, 2}, {1, 9, 9, 4, 3, 9}), Scalar<int64_t>(-2))
        .Attr("output_type", DType::kInt32)
        .Expect(Vector<int32_t>({1, 0})),
    Row(ArgMax{})
        .Inputs(Uniform({5, 3}), Scalar<int16_t>(0))
        .Attr("output_type", DType::kUint16)
        .Named("narrow"),
    Row(ArgMax{}).Inputs(Empty({0, 3}), Scalar<int32_t>(1)).Expect(Empty<int64_t>({0})),
    Row(ArgMax{})
        .Inputs(Empty({0, 3}), Scalar<int32_t>(0))
        .Fails(Code::kInvalidArgument, "is empty"),
    Row(ArgMax{}).Inputs(Uniform({2}), Scalar<int32_t>(1)).Fails(Code::kInvalidArgument, "1"),
    Row(ArgMax{}).Inputs(Scalar(1.0f), Scalar<int32_t>(0)).Fails(Code::kInvalidArgument, "rank"),
    Row(ArgMax{})
        .Inputs(Uniform({2}), Vector<int32_t>({0}))
        .Fails(Code::kInvalidArgument, "must be a scalar"),
    Row(ArgMin{})
        .Inputs(Values<bool>({3}, {true, false, false}), Scalar<int32_t>(0))
        .Expect(Scalar<int64_t>(1)),
    Row(ArgMin{}).Inputs(Uniform({2, 2}), Scalar<int32_t>(-3)).Fails(Code::kInvalidArgument, "-3"),
};

const OpRows kCumulativeRows{
    Row(Cumsum{})
        .Inputs(Values<float>({2, 3}, {1, 2, 3, 4, 5, 6}), Scalar<int32_t>(1))
        .Expect(Values<float>({2, 3}, {1, 3, 6, 4, 9, 15}))
        .Gradient(),
    Row(Cumsum{.exclusive = true})
        .Inputs(Values<float>({2, 3}, {1, 2, 3, 4, 5, 6}), Scalar<int64_t>(-2))
        .Expect(Values<float>({2, 3}, {0, 0, 0, 1, 2, 3}))
        .Gradient(),
    Row(Cumsum{.exclusive = true, .reverse = true})
        .Inputs(Vector<int32_t>({1, 2, 3}), Scalar<int32_t>(0))
        .Expect(Vector<int32_t>({5, 3, 0})),
    Row(Cumsum{.reverse = true}).Inputs(Uniform({3, 600}), Scalar<int32_t>(0)).Named("wide"),
    Row(Cumsum{}).Inputs(Empty({0, 3}), Scalar<int32_t>(1)).Expect(Empty({0, 3})),
    Row(Cumsum{}).Inputs(Uniform({2}), Scalar<int32_t>(1)).Fails(Code::kInvalidArgument, "1"),
    Row(Cumsum{}).Inputs(Scalar(1.0f), Scalar<int32_t>(0)).Fails(Code::kInvalidArgument, "0"),
    Row(Cumsum{})
        .Inputs(Uniform({2}), Vector<int32_t>({0, 1}))
        .Fails(Code::kInvalidArgument, "must be a scalar"),
    Row(Cumprod{})
        .Inputs(Values<int64_t>({4}, {1, 2, 3, 4}), Scalar<int32_t>(0))
        .Expect(Vector<int64_t>({1, 2, 6, 24})),
    Row(Cumprod{.exclusive = true}).Inputs(Uniform({2, 3}, 1, 2), Scalar<int32_t>(1)).Gradient(),
    Row(Cumprod{.reverse = true}).Inputs(Uniform({2, 3}, 1, 2), Scalar<int32_t>(0)).Gradient(),
    Row(Cumprod{}).Inputs(Uniform({2}), Scalar<int32_t>(-2)).Fails(Code::kInvalidArgument, "-2"),
};

const OpRows kSegmentRows{
    Row(UnsortedSegmentSum{})
        .Inputs(Values<float>({3, 2}, {1, 2, 3, 4, 5, 6}), Vector<int32_t>({1, -1, 1}),
                Scalar<int32_t>(3))
        .Expect(Values<float>({3, 2}, {0, 0, 6, 8, 0, 0}))
        .Gradient(),
    Row(UnsortedSegmentSum{})
        .Inputs(Uniform({2, 2}), Values<int64_t>({2, 2}, {0, 1, 1, 0}), Scalar<int64_t>(2))
        .Gradient()
        .Named("ids_of_two_axes"),
    Row(UnsortedSegmentSum{})
        .Inputs(Empty({0, 3}), Empty<int32_t>({0}), Scalar<int32_t>(1))
        .Expect(Values<float>({1, 3}, {0, 0, 0})),
    Row(UnsortedSegmentSum{})
        .Inputs(Uniform({2}), Vector<int32_t>({0, 5}), Scalar<int32_t>(5))
        .Fails(Code::kInvalidArgument, "got 5 at place 1"),
    Row(UnsortedSegmentSum{})
        .Inputs(Uniform({2}), Vector<int32_t>({0, 1}), Scalar<int32_t>(-1))
        .Fails(Code::kInvalidArgument, "negative"),
    Row(UnsortedSegmentSum{})
        .Inputs(Uniform({2, 2}), Vector<int32_t>({0, 1, 1}), Scalar<int32_t>(2))
        .Fails(Code::kInvalidArgument, "begin with"),
};

}  // namespace
}  // namespace penstock::rows
