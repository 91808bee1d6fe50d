#include "penstock/ops/sparse/sparse_layout.h"

#include "penstock/ops/sparse/empty_rows.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

Value Longs(std::initializer_list<int64_t> values) { return Vector<int64_t>(values); }
Value Pairs(std::initializer_list<int64_t> values) {
  return Values<int64_t>({static_cast<int64_t>(values.size()) / 2, 2}, values);
}
Value Floats(std::initializer_list<float> values) { return Vector<float>(values); }

const OpRows kLayoutRows{
    Row(SparseReorder{})
        .Inputs(Pairs({1, 1, 0, 0, 1, 1}), Vector<std::string>({"a", "b", "c"}), Longs({2, 2}))
        .Expect(Pairs({0, 0, 1, 1, 1, 1}), Vector<std::string>({"b", "a", "c"})),
    Row(SparseReorder{}).Inputs(Pairs({1, 1, 0, 0, 1, 0}), Uniform({3}), Longs({2, 2})).Gradient(),
    Row(SparseReorder{}).Inputs(Pairs({1, 1}), Uniform({2}), Longs({2, 2})).Fails(kBad, "[2]"),
    Row(SparseReorder{}).Inputs(Pairs({1, 1}), Uniform({1}), Longs({2})).Fails(kBad, "2 vs 1"),
    Row(SparseReshape{})
        .Inputs(Pairs({0, 1, 1, 2}), Longs({2, 3}), Longs({3, -1}))
        .Expect(Pairs({0, 1, 2, 1}), Longs({3, 2})),
    Row(SparseReshape{})
        .Inputs(Empty<int64_t>({0, 2}), Longs({0, 3}), Longs({2, -1}))
        .Expect(Empty<int64_t>({0, 2}), Longs({2, 0})),
    Row(SparseReshape{}).Inputs(Pairs({0, 1}), Longs({2, 3}), Longs({4, -1})).Fails(kBad, "6 vs 4"),
    Row(SparseReshape{}).Inputs(Pairs({0, 1}), Longs({2, 3}), Longs({-1, -1})).Fails(kBad, "-1"),
    Row(SparseReshape{}).Inputs(Pairs({0, 7}), Longs({2, 3}), Longs({6})).Fails(kBad, "[0, 7]"),
    Row(SparseReshape{})
        .Inputs(Pairs({0, 1}), Longs({INT64_MAX, 3}), Longs({6}))
        .Fails(kBad, "elements"),
    Row(SparseSlice{})
        .Inputs(Pairs({0, 1, 1, 0, 1, 2}), Floats({1, 2, 3}), Longs({2, 3}), Longs({1, 1}),
                Longs({INT64_MAX, 10}))
        .Expect(Pairs({0, 1}), Floats({3}), Longs({1, 2})),
    Row(SparseSlice{})
        .Inputs(Pairs({0, 1, 1, 0, 1, 2}), Uniform({3}), Longs({2, 3}), Longs({0, 1}),
                Longs({2, 2}))
        .Gradient(),
    Row(SparseSlice{})
        .Inputs(Pairs({0, 1}), Uniform({1}), Longs({2, 3}), Longs({0, 1}), Longs({2, -2}))
        .Fails(kBad, "-2"),
    Row(SparseSlice{})
        .Inputs(Pairs({0, 1}), Uniform({1}), Longs({2, 3}), Longs({0}), Longs({2, 2}))
        .Fails(kBad, "[1]"),
    Row(SparseSliceGrad{})
        .Inputs(Uniform({1}), Pairs({0, 1}), Longs({0, 0}), Pairs({5, 1}))
        .Fails(kBad, "0 of 1"),
    Row(SparseSliceGrad{})
        .Inputs(Uniform({2}), Pairs({0, 1}), Longs({0, 0}), Pairs({5, 1}))
        .Fails(kBad, "[2]"),
    Row(SparseConcat{.concat_dim = -1})
        .Inputs(Pairs({0, 1, 1, 0}), Pairs({0, 0}), Floats({1, 2}), Floats({3}), Longs({2, 3}),
                Longs({2, 1}))
        .Expect(Pairs({0, 1, 0, 3, 1, 0}), Floats({1, 3, 2}), Longs({2, 4})),
    Row(SparseConcat{.concat_dim = 0})
        .Inputs(Pairs({0, 1}), Pairs({0, 0}), Floats({1}), Floats({3}), Longs({2, 3}),
                Longs({2, 1}))
        .Fails(kBad, "3 vs 1"),
    Row(SparseConcat{.concat_dim = 2})
        .Inputs(Pairs({0, 1}), Pairs({0, 0}), Floats({1}), Floats({3}), Longs({2, 3}),
                Longs({2, 3}))
        .Fails(kBad, "2"),
    Row(SparseSplit{.num_split = 3})
        .Inputs(Scalar<int64_t>(1), Pairs({0, 1, 1, 2}), Floats({1, 2}), Longs({2, 5}))
        .Expect(Pairs({0, 1}), Pairs({1, 0}), Empty<int64_t>({0, 2}), Floats({1}), Floats({2}),
                Empty({0}), Longs({2, 2}), Longs({2, 2}), Longs({2, 1})),
    Row(SparseSplit{.num_split = 4})
        .Inputs(Scalar<int64_t>(1), Pairs({0, 1}), Floats({1}), Longs({2, 3}))
        .Fails(kBad, "got 4"),
    Row(SparseSplit{.num_split = 2})
        .Inputs(Scalar<int64_t>(1), Pairs({0, 9}), Floats({1}), Longs({2, 3}))
        .Fails(kBad, "[0, 9]"),
};

const OpRows kEmptyRowsRows{
    Row(SparseFillEmptyRows{})
        .Inputs(Pairs({3, 1, 1, 0, 3, 0}), Floats({1, 2, 3}), Longs({5, 3}), Scalar<float>(-1))
        .Expect(Pairs({0, 0, 1, 0, 2, 0, 3, 1, 3, 0, 4, 0}), Floats({-1, 2, -1, 1, 3, -1}),
                Vector<bool>({true, false, true, false, true}), Longs({3, 1, 4})),
    Row(SparseFillEmptyRows{})
        .Inputs(Pairs({1, 1, 3, 0}), Uniform({2}), Longs({4, 3}), Uniform({}))
        .Gradient(),
    Row(SparseFillEmptyRows{})
        .Inputs(Empty<int64_t>({0, 2}), Empty({0}), Longs({0, 3}), Uniform({}))
        .Expect(Empty<int64_t>({0, 2}), Empty({0}), Empty<bool>({0}), Empty<int64_t>({0})),
    Row(SparseFillEmptyRows{})
        .Inputs(Pairs({5, 1}), Uniform({1}), Longs({5, 3}), Uniform({}))
        .Fails(kBad, "row 5"),
    Row(SparseFillEmptyRows{})
        .Inputs(Pairs({0, 1}), Uniform({1}), Longs({5, 3}), Uniform({1}))
        .Fails(kBad, "default_value"),
    Row(SparseFillEmptyRowsGrad{})
        .Inputs(Longs({3, 1}), Floats({0, 1, 2, 3, 4}))
        .Expect(Floats({3, 1}), Scalar<float>(6)),
    Row(SparseFillEmptyRowsGrad{}).Inputs(Longs({3, 7}), Uniform({5})).Fails(kBad, "got 7"),
    Row(SparseFillEmptyRowsGrad{}).Inputs(Longs({3}), Uniform({5, 1})).Fails(kBad, "grad_values"),
    Row(RaggedFillEmptyRows{})
        .Inputs(Longs({2, 0}), Vector<std::string>({"a", "b"}), Scalar<int64_t>(3),
                Scalar<std::string>("-"))
        .Expect(Longs({0, 1, 2}), Vector<std::string>({"b", "-", "a"}),
                Vector<bool>({false, true, false}), Longs({2, 0})),
    Row(RaggedFillEmptyRows{})
        .Inputs(Longs({2, 0}), Uniform({2}), Scalar<int64_t>(2), Uniform({}))
        .Fails(kBad, "row 2"),
    Row(RaggedFillEmptyRows{})
        .Inputs(Longs({2, 0}), Uniform({2}), Scalar<int64_t>(-2), Uniform({}))
        .Fails(kBad, "-2"),
    Row(RaggedFillEmptyRowsGrad{}).Inputs(Longs({-1}), Uniform({5})).Fails(kBad, "got -1"),
};

}  // namespace
}  // namespace penstock::rows
