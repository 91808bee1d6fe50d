#include <cmath>

#include "penstock/ops/array/dynamic_stitch.h"
#include "penstock/ops/array/space_batch.h"
#include "penstock/ops/array/unique.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

Value Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }
Value Longs(std::initializer_list<int64_t> values) { return Vector<int64_t>(values); }
Value Words(std::initializer_list<std::string> values) { return Vector<std::string>(values); }
Value Pairs(std::initializer_list<int32_t> values) {
  return Values<int32_t>({static_cast<int64_t>(values.size()) / 2, 2}, values);
}

const OpRows kStitchRows{
    Row(DynamicStitch{})
        .Inputs(Ints({0, 5}), Ints({1, 0}), Vector<float>({1, 2}), Vector<float>({3, 4}))
        .Expect(Vector<float>({4, 3, 0, 0, 0, 2}))
        .NoGradient(),
    Row(DynamicStitch{})
        .Inputs(Scalar<int32_t>(2), Values<int32_t>({1, 2}, {1, 0}), Uniform({3}),
                Uniform({1, 2, 3}))
        .Gradient(),
    Row(DynamicStitch{}).Inputs(Ints({1, 0}), Words({"a", "b"})).Expect(Words({"b", "a"})),
    Row(DynamicStitch{}).Inputs(Empty<int32_t>({0}), Empty({0, 3})).Expect(Empty({0, 3})),
    Row(DynamicStitch{}).Inputs(Ints({0, -1}), Uniform({2})).Fails(kBad, "-1"),
    Row(DynamicStitch{}).Inputs(Ints({0}), Uniform({2, 2})).Fails(kBad, "[2,2] vs [1]"),
    Row(ParallelDynamicStitch{})
        .Inputs(Ints({0}), Ints({1}), Uniform({1, 2}), Uniform({1, 3}))
        .Fails(kBad, "[2] vs [3]"),
    Row(ParallelDynamicStitch{}).Inputs(Ints({-4}), Uniform({1})).Fails(kBad, "-4"),
    Row(DynamicPartition{.num_partitions = 3})
        .Inputs(Ints({10, 20, 30}), Ints({2, 0, 2}))
        .Expect(Ints({20}), Empty<int32_t>({0}), Ints({10, 30})),
    Row(DynamicPartition{.num_partitions = 2})
        .Inputs(Uniform({2, 2, 3}), Values<int32_t>({2, 2}, {1, 0, 0, 1}))
        .Gradient(),
    Row(DynamicPartition{.num_partitions = 2}).Inputs(Uniform({2}), Scalar<int32_t>(1)).Gradient(),
    Row(DynamicPartition{.num_partitions = 2})
        .Inputs(Uniform({2}), Ints({0, 2}))
        .Fails(kBad, "[0, 2), got 2"),
    Row(DynamicPartition{.num_partitions = 2})
        .Inputs(Uniform({3}), Ints({0, 1}))
        .Fails(kBad, "[3] vs [2]"),
};

const OpRows kUniqueRows{
    Row(Unique{})
        .Inputs(Vector<float>({1, 0, -0.0f, 2, 1}))
        .Expect(Vector<float>({1, 0, 2}), Ints({0, 1, 1, 2, 0})),
    Row(Unique{.out_idx = DType::kInt64})
        .Inputs(Words({"b", "a", "b"}))
        .Expect(Words({"b", "a"}), Longs({0, 1, 0})),
    Row(Unique{})
        .Inputs(Vector<double>({NAN, NAN}))
        .Expect(Vector<double>({NAN, NAN}), Ints({0, 1})),
    Row(Unique{}).Inputs(Uniform<uint8_t>({4000}, 0, 200)),
    Row(Unique{}).Inputs(Empty({0})).Expect(Empty({0}), Empty<int32_t>({0})),
    Row(Unique{}).Inputs(Uniform({2, 2})).Fails(kBad, "vector"),
    Row(Unique{}).Inputs(Uniform({})).Fails(kBad, "x"),
    Row(UniqueV2{})
        .Inputs(Values<int32_t>({2, 3}, {1, 2, 1, 1, 2, 1}), Longs({1}))
        .Expect(Values<int32_t>({2, 2}, {1, 2, 1, 2}), Ints({0, 1, 0})),
    Row(UniqueV2{})
        .Inputs(Values<std::string>({2, 1}, {"a", "a"}), Longs({-2}))
        .Expect(Values<std::string>({1, 1}, {"a"}), Ints({0, 0})),
    Row(UniqueV2{}).Inputs(Uniform({2, 2}), Empty<int64_t>({0})).Fails(kBad, "[2,2]"),
    Row(UniqueV2{}).Inputs(Uniform({2, 2}), Longs({2})).Fails(kBad, "2"),
    Row(UniqueWithCounts{})
        .Inputs(Ints({7, 8, 7}))
        .Expect(Ints({7, 8}), Ints({0, 1, 0}), Ints({2, 1})),
    Row(UniqueWithCounts{}).Inputs(Uniform({1, 1})).Fails(kBad, "x"),
    Row(UniqueWithCountsV2{})
        .Inputs(Empty({3, 0}), Longs({0}))
        .Expect(Empty({1, 0}), Ints({0, 0, 0}), Ints({3})),
    Row(UniqueWithCountsV2{}).Inputs(Uniform({2}), Longs({0, 0})).Fails(kBad, "got 2"),
    Row(ListDiff{})
        .Inputs(Ints({1, 5, 2, 5}), Ints({2, 9}))
        .Expect(Ints({1, 5, 5}), Ints({0, 1, 3})),
    Row(ListDiff{}).Inputs(Words({"x"}), Empty<std::string>({0})).Expect(Words({"x"}), Ints({0})),
    Row(ListDiff{}).Inputs(Ints({1}), Values<int32_t>({1, 1}, {2})).Fails(kBad, "y"),
    Row(ListDiff{}).Inputs(Scalar<int32_t>(1), Ints({1})).Fails(kBad, "x"),
};

const OpRows kSpaceBatchRows{
    Row(SpaceToBatchND{})
        .Inputs(Uniform({2, 3, 4, 2}), Ints({2, 3}), Pairs({1, 0, 2, 0}))
        .Gradient(),
    Row(SpaceToBatchND{})
        .Inputs(Uniform({1, 1, 2}), Ints({3}), Pairs({0, 5}))
        .Gradient()
        .Named("all_padding"),
    Row(SpaceToBatchND{})
        .Inputs(Vector<float>({1, 2}), Empty<int32_t>({0}), Empty<int32_t>({0, 2}))
        .Expect(Vector<float>({1, 2}))
        .Named("no_block"),
    Row(SpaceToBatchND{})
        .Inputs(Uniform({1, 4}), Ints({2}), Pairs({1, 0}))
        .Fails(kBad, "multiple of its block 2: 5"),
    Row(SpaceToBatchND{}).Inputs(Uniform({1, 4}), Ints({0}), Pairs({0, 0})).Fails(kBad, "got 0"),
    Row(SpaceToBatchND{}).Inputs(Uniform({1, 4}), Ints({1}), Pairs({-1, 0})).Fails(kBad, "-1"),
    Row(SpaceToBatchND{}).Inputs(Uniform({4}), Ints({1}), Pairs({0, 0})).Fails(kBad, "rank"),
    Row(BatchToSpaceND{}).Inputs(Uniform({6, 2, 3}), Ints({2}), Pairs({1, 2})).Gradient(),
    Row(BatchToSpaceND{})
        .Inputs(Uniform({4, 1}), Ints({2}), Pairs({2, 0}))
        .Expect(Empty({2, 0}))
        .Named("all_cropped"),
    Row(BatchToSpaceND{}).Inputs(Uniform({4, 1}), Ints({2}), Pairs({2, 1})).Fails(kBad, "2 + 1"),
    Row(BatchToSpaceND{}).Inputs(Uniform({3, 1}), Ints({2}), Pairs({0, 0})).Fails(kBad, "got 3"),
    Row(SpaceToBatch{.block_size = 2})
        .Inputs(Uniform({1, 3, 4, 1}), Pairs({0, 1, 1, 1}))
        .Gradient(),
    Row(SpaceToBatch{.block_size = 2})
        .Inputs(Uniform({1, 3, 4}), Pairs({0, 0, 0, 0}))
        .Fails(kBad, "rank 4"),
    Row(SpaceToBatch{.block_size = 2})
        .Inputs(Uniform({1, 3, 4, 1}), Pairs({0, 0}))
        .Fails(kBad, "[2,2]"),
    Row(BatchToSpace{.block_size = 2})
        .Inputs(Uniform({4, 2, 2, 1}), Pairs({0, 1, 1, 0}))
        .Gradient(),
    Row(BatchToSpace{.block_size = 2})
        .Inputs(Uniform({2, 2, 2, 1}), Pairs({0, 0, 0, 0}))
        .Fails(kBad, "got 2"),
    Row(BatchToSpace{.block_size = 2})
        .Inputs(Uniform({4, 1, 1, 1}), Pairs({0, 3, 0, 0}))
        .Fails(kBad, "0 + 3"),
};

}  // namespace
}  // namespace penstock::rows
