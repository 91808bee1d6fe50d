#include "penstock/ops/sparse/ragged.h"

#include <cmath>

#include "penstock/ops/sparse/edit_distance.h"
#include "penstock/ops/sparse/sparse_cross.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

Value Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }
Value Longs(std::initializer_list<int64_t> values) { return Vector<int64_t>(values); }
Value Pairs(std::initializer_list<int64_t> values) {
  return Values<int64_t>({static_cast<int64_t>(values.size()) / 2, 2}, values);
}

const Value kSplits = Longs({0, 2, 2, 3});

RaggedTensorToTensor BySplits(int levels) {
  return {.row_partition_types =
              std::vector<std::string>(static_cast<size_t>(levels), "ROW_SPLITS")};
}

const OpRows kRaggedRows{
    Row(RaggedRange{})
        .Inputs(Ints({2, 5, 8}), Ints({3, 5, 12}), Scalar<int32_t>(1))
        .Expect(Longs({0, 1, 1, 5}), Ints({2, 8, 9, 10, 11})),
    Row(RaggedRange{.Tsplits = DType::kInt32})
        .Inputs(Scalar<double>(1), Scalar<double>(-1), Scalar<double>(-.5))
        .Expect(Ints({0, 4}), Vector<double>({1, .5, 0, -.5})),
    Row(RaggedRange{})
        .Inputs(Scalar<int64_t>(INT64_MIN), Scalar<int64_t>(INT64_MAX), Scalar<int64_t>(1))
        .Fails(kBad, "too many"),
    Row(RaggedRange{}).Inputs(Ints({0}), Ints({3}), Ints({0})).Fails(kBad, "must not be 0"),
    Row(RaggedRange{}).Inputs(Ints({0, 1}), Ints({3}), Ints({1, 1})).Fails(kBad, "2 vs 1"),
    Row(RaggedGather{.PARAMS_RAGGED_RANK = 1, .OUTPUT_RAGGED_RANK = 2})
        .Inputs(kSplits, Ints({1, 2, 3}), Values<int32_t>({2, 2}, {2, 0, 1, 0}))
        .Expect(Longs({0, 2, 4}), Longs({0, 1, 3, 3, 5}), Ints({3, 1, 2, 1, 2})),
    Row(RaggedGather{.PARAMS_RAGGED_RANK = 2, .OUTPUT_RAGGED_RANK = 2})
        .Inputs(kSplits, Longs({0, 1, 2, 5}), Uniform({5, 2}), Ints({2, 0, 2}))
        .Gradient(),
    Row(RaggedGather{.PARAMS_RAGGED_RANK = 1, .OUTPUT_RAGGED_RANK = 1})
        .Inputs(kSplits, Uniform({3}), Ints({3}))
        .Fails(kBad, "[0, 3)"),
    Row(RaggedGather{.PARAMS_RAGGED_RANK = 1, .OUTPUT_RAGGED_RANK = 1})
        .Inputs(Longs({0, 2, 9}), Uniform({3}), Ints({0}))
        .Fails(kBad, "got 9"),
    Row(RaggedTensorToSparse{})
        .Inputs(kSplits, Values<int32_t>({3, 1}, {1, 2, 3}))
        .Expect(Values<int64_t>({3, 3}, {0, 0, 0, 0, 1, 0, 2, 0, 0}), Ints({1, 2, 3}),
                Longs({3, 2, 1})),
    Row(RaggedTensorToSparse{}).Inputs(kSplits, Longs({0, 1, 2, 5}), Uniform({5})).Gradient(),
    Row(RaggedTensorToSparse{}).Inputs(Longs({0, 2, 1}), Uniform({3})).Fails(kBad, "1 after 2"),
    Row(RaggedTensorToSparse{}).Inputs(Longs({1, 3}), Uniform({3})).Fails(kBad, "from 0"),
    Row(BySplits(1))
        .Inputs(Longs({2, 3}), Ints({1, 2, 3}), Scalar<int32_t>(-1), kSplits)
        .Expect(Values<int32_t>({2, 3}, {1, 2, -1, -1, -1, -1})),
    Row(BySplits(2))
        .Inputs(Longs({-1, -1, 2, 2}), Uniform({5, 2}), Uniform({2}), kSplits, Longs({0, 1, 2, 5}))
        .Gradient(),
    Row(RaggedTensorToTensor{.row_partition_types = {"FIRST_DIM_SIZE", "VALUE_ROWIDS"}})
        .Inputs(Scalar<int64_t>(-1), Vector<std::string>({"a", "b", "c"}), Scalar<std::string>("-"),
                Scalar<int64_t>(3), Longs({0, 0, 2}))
        .Expect(Values<std::string>({3, 2}, {"a", "b", "-", "-", "c", "-"})),
    Row(BySplits(1))
        .Inputs(Longs({-1, -1}), Uniform({3}), Uniform({}), Longs({0, 2, 9}))
        .Fails(kBad, "got 9"),
    Row(BySplits(1))
        .Inputs(Longs({-1, -1}), Uniform({3}), Uniform({2}), kSplits)
        .Fails(kBad, "default_value"),
    Row(RaggedTensorToTensor{.row_partition_types = {"ROW_LIMITS"}})
        .Inputs(Longs({-1, -1}), Uniform({3}), Uniform({}), kSplits)
        .Fails(kBad, "ROW_LIMITS"),
};

const OpRows kDistanceRows{
    Row(EditDistance{})
        .Inputs(Pairs({0, 0, 1, 0, 1, 1}), Ints({1, 2, 3}), Longs({3, 2}), Pairs({0, 0, 0, 1}),
                Ints({1, 5}), Longs({3, 2}))
        .Expect(Vector<float>({.5, INFINITY, 0})),
    Row(EditDistance{.normalize = false})
        .Inputs(Pairs({0, 0}), Vector<std::string>({"a"}), Longs({1, 2}), Pairs({0, 0, 1, 0}),
                Vector<std::string>({"b", "c"}), Longs({2, 2}))
        .Expect(Vector<float>({1, 1})),
    Row(EditDistance{})
        .Inputs(Pairs({7, 0}), Ints({1}), Longs({3, 2}), Pairs({0, 0}), Ints({1}), Longs({3, 2}))
        .Fails(kBad, "[7, 0]"),
    Row(EditDistance{})
        .Inputs(Values<int64_t>({1, 1}, {0}), Ints({1}), Longs({3}), Values<int64_t>({1, 1}, {0}),
                Ints({1}), Longs({3}))
        .Fails(kBad, "got 1"),
};

Value Words(std::initializer_list<std::string> values) { return Vector<std::string>(values); }

const OpRows kCrossRows{
    Row(SparseCross{.hashed_output = false})
        .Attr("out_type", DType::kString)
        .Inputs(Pairs({0, 0, 0, 3, 2, 1}), Words({"a", "b", "c"}), Longs({3, 4}),
                Values<int64_t>({3, 1}, {9, 1, 4}))
        .Expect(Pairs({0, 0, 0, 1, 2, 0}), Words({"a_X_9", "b_X_9", "c_X_4"}), Longs({3, 2})),
    Row(SparseCross{.hashed_output = true, .num_buckets = 1000, .hash_key = 956888297470})
        .Attr("out_type", DType::kInt64)
        .Inputs(Pairs({0, 0}), Words({"a"}), Longs({1, 1}), Values<int64_t>({1, 1}, {9}))
        .Expect(Pairs({0, 0}), Longs({628}), Longs({1, 1})),
    Row(SparseCross{.hashed_output = true})
        .Attr("out_type", DType::kInt64)
        .Inputs(Pairs({0, 0}), Words({"a"}), Longs({1, 1}), Values<int64_t>({2, 1}, {9, 9}))
        .Fails(kBad, "1 rows, got 2"),
    Row(SparseCross{.hashed_output = true})
        .Attr("out_type", DType::kInt64)
        .Inputs(Pairs({5, 0}), Words({"a"}), Longs({1, 1}), Values<int64_t>({1, 1}, {9}))
        .Fails(kBad, "[5, 0]"),
    Row(SparseCrossV2{})
        .Inputs(Pairs({0, 0, 0, 1}), Longs({1, 2}), Longs({1, 2}),
                Values<std::string>({1, 2}, {"p", "q"}), Scalar<std::string>("-"))
        .Expect(Pairs({0, 0, 0, 1, 0, 2, 0, 3}), Words({"1-p", "1-q", "2-p", "2-q"}),
                Longs({1, 4})),
    Row(SparseCrossV2{})
        .Inputs(Pairs({0, 0}), Longs({1}), Longs({1, 2}), Values<float>({1, 1}, {1}),
                Scalar<std::string>("-"))
        .Fails(kBad, "float"),
    Row(SparseCrossV2{})
        .Inputs(Pairs({0, 0}), Longs({1}), Longs({1, 2}), Words({"p"}), Scalar<std::string>("-"))
        .Fails(kBad, "rank 2"),
};

}  // namespace
}  // namespace penstock::rows
