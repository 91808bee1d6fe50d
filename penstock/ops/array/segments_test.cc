#include <cmath>

#include "penstock/ops/segment.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

Value Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }

const OpRows kSortedRows{
    Row(SegmentSum{})
        .Inputs(Vector<float>({1, 2, 3}), Ints({0, 2, 2}))
        .Expect(Vector<float>({1, 0, 5})),
    Row(SegmentSum{}).Inputs(Uniform({5, 300}), Ints({0, 0, 1, 3, 3})).Gradient(),
    Row(SegmentSum{}).Inputs(Empty({0, 2}), Empty<int32_t>({0})).Expect(Empty({0, 2})),
    Row(SegmentSum{}).Inputs(Uniform({2}), Ints({1, 0})).Fails(kBad, "0 after 1"),
    Row(SegmentSum{}).Inputs(Uniform({2}), Ints({-1, 0})).Fails(kBad, "-1"),
    Row(SegmentMean{}).Inputs(Uniform({4, 3}), Ints({0, 0, 0, 2})).Gradient(),
    Row(SegmentMean{}).Inputs(Ints({-1, -2, -4}), Ints({0, 0, 0})).Expect(Ints({-2})),
    Row(SegmentMean{}).Inputs(Uniform({2}), Ints({0})).Fails(kBad, "[1] vs [2]"),
    Row(SegmentMean{}).Inputs(Uniform({}), Ints({0})).Fails(kBad, "data"),
    Row(SegmentProd{}).Inputs(Uniform({4, 2}, 0.5, 1), Ints({0, 0, 2, 2})).Gradient(),
    Row(SegmentProd{}).Inputs(Vector<float>({2, 3}), Ints({0, 2})).Expect(Vector<float>({2, 1, 3})),
    Row(SegmentProd{}).Inputs(Uniform({2}), Ints({0, -5})).Fails(kBad, "-5"),
    Row(SegmentMin{}).Inputs(Uniform({4, 2}), Ints({0, 1, 1, 3})).Gradient(),
    Row(SegmentMax{})
        .Inputs(Vector<float>({-3, -2, -HUGE_VALF}), Ints({0, 0, 2}))
        .Expect(Vector<float>({-2, 0, -HUGE_VALF}))
        .NoGradient(),
    Row(SegmentMax{}).Inputs(Uniform({4, 2}), Ints({0, 1, 1, 3})).Gradient(),
    Row(SegmentMax{}).Inputs(Uniform({1}), Uniform<int32_t>({1, 1})).Fails(kBad, "segment_ids"),
};

const OpRows kUnsortedRows{
    Row(UnsortedSegmentSum{})
        .Inputs(Uniform({3, 2}), Ints({2, -1, 0}), Scalar<int32_t>(4))
        .Gradient(),
    Row(UnsortedSegmentProd{})
        .Inputs(Uniform({4}, 0.5, 1), Values<int32_t>({4}, {1, 1, -1, 0}), Scalar<int32_t>(3))
        .Gradient(),
    Row(UnsortedSegmentMax{})
        .Inputs(Ints({4, 9, 7}), Ints({1, -1, 1}), Scalar<int32_t>(2))
        .Expect(Ints({INT32_MIN, 7})),
    Row(UnsortedSegmentMax{})
        .Inputs(Uniform({2, 2, 3}), Values<int32_t>({2, 2}, {1, 1, 0, -1}), Scalar<int32_t>(2))
        .Gradient(),
    Row(UnsortedSegmentMin{})
        .Inputs(Uniform({4, 3}), Ints({1, 1, 0, 1}), Scalar<int32_t>(2))
        .Gradient(),
    Row(UnsortedSegmentMin{})
        .Inputs(Empty<uint8_t>({0}), Empty<int32_t>({0}), Scalar<int32_t>(1))
        .Expect(Vector<uint8_t>({255})),
    Row(UnsortedSegmentMin{})
        .Inputs(Uniform({2}), Ints({0, 2}), Scalar<int32_t>(2))
        .Fails(kBad, "got 2 at place 1"),
    Row(UnsortedSegmentMax{})
        .Inputs(Uniform({2}), Ints({0, 1}), Scalar<int32_t>(-2))
        .Fails(kBad, "-2"),
    Row(UnsortedSegmentProd{})
        .Inputs(Uniform({3}), Ints({0, 1}), Scalar<int32_t>(2))
        .Fails(kBad, "[3] vs [2]"),
};

}  // namespace
}  // namespace penstock::rows
