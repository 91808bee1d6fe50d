#include "penstock/ops/sparse/sparse_dense.h"
#include "penstock/ops/sparse/sparse_reduce.h"
#include "penstock/ops/sparse/sparse_union.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

Value Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }
Value Longs(std::initializer_list<int64_t> values) { return Vector<int64_t>(values); }
Value Pairs(std::initializer_list<int64_t> values) {
  return Values<int64_t>({static_cast<int64_t>(values.size()) / 2, 2}, values);
}
Value Floats(std::initializer_list<float> values) { return Vector<float>(values); }

const Value kIndices = Pairs({0, 1, 1, 0, 1, 2});
const Value kExtents = Longs({2, 3});

const OpRows kUnionRows{
    Row(SparseAdd{})
        .Inputs(kIndices, Floats({1, 2, 3}), kExtents, Pairs({0, 0, 1, 2}), Floats({.5, -3}),
                kExtents, Scalar<float>(1))
        .Expect(Pairs({0, 0, 0, 1, 1, 0}), Floats({.5, 1, 2}), kExtents)
        .NoGradient(),
    Row(SparseAdd{})
        .Inputs(kIndices, Uniform({3}), kExtents, Pairs({0, 0, 1, 2}), Uniform({2}), kExtents,
                Scalar<float>(0))
        .Gradient(),
    Row(SparseAdd{})
        .Inputs(kIndices, Uniform({3}), kExtents, kIndices, Uniform({3}), Longs({2, 4}),
                Scalar<float>(0))
        .Fails(kBad, "3 vs 4"),
    Row(SparseAdd{})
        .Inputs(kIndices, Uniform({3}), kExtents, kIndices, Uniform({3}), kExtents, Uniform({1}))
        .Fails(kBad, "thresh"),
    Row(SparseAddGrad{})
        .Inputs(Floats({1, 2}), kIndices, Pairs({0, 0, 1, 2}), Pairs({0, 1, 1, 2}))
        .Expect(Floats({1, 0, 2}), Floats({0, 2})),
    Row(SparseAddGrad{})
        .Inputs(Floats({1}), kIndices, kIndices, Pairs({0, 1, 1, 2}))
        .Fails(kBad, "[1]"),
    Row(SparseAddGrad{})
        .Inputs(Floats({1}), kIndices, kIndices, Values<int64_t>({1, 1}, {0}))
        .Fails(kBad, "2 vs 1"),
    Row(SparseSparseMaximum{})
        .Inputs(kIndices, Floats({1, -2, 3}), kExtents, Pairs({0, 0, 1, 2}), Floats({-.5, 8}),
                kExtents)
        .Expect(Pairs({0, 0, 0, 1, 1, 0, 1, 2}), Floats({0, 1, 0, 8})),
    Row(SparseSparseMinimum{})
        .Inputs(Empty<int64_t>({0, 2}), Empty({0}), kExtents, kIndices, Floats({1, -2, 3}),
                kExtents)
        .Expect(kIndices, Floats({0, -2, 0})),
    Row(SparseSparseMinimum{})
        .Inputs(kIndices, Uniform({3}), kExtents, kIndices, Uniform({3}), Longs({9, 3}))
        .Fails(kBad, "2 vs 9"),
    Row(SparseSparseMaximum{})
        .Inputs(kIndices, Uniform({3}), kExtents, kIndices, Uniform({2}), kExtents)
        .Fails(kBad, "[2]"),
};

const OpRows kDenseRows{
    Row(SparseTensorDenseAdd{})
        .Inputs(kIndices, Uniform({3}), kExtents, Uniform({2, 3}))
        .Gradient(),
    Row(SparseTensorDenseAdd{})
        .Inputs(kIndices, Uniform({3}), kExtents, Uniform({2, 4}))
        .Fails(kBad, "vs"),
    Row(SparseTensorDenseAdd{})
        .Inputs(Pairs({2, 0}), Uniform({1}), kExtents, Uniform({2, 3}))
        .Fails(kBad, "[2, 0]"),
    Row(SparseDenseCwiseAdd{})
        .Inputs(kIndices, Floats({1, 2, 3}), kExtents, Floats({1, 2, 3}))
        .Expect(Floats({3, 3, 6})),
    Row(SparseDenseCwiseAdd{}).Inputs(kIndices, Uniform({3}), kExtents, Uniform({2, 1})).Gradient(),
    Row(SparseDenseCwiseAdd{})
        .Inputs(kIndices, Uniform({3}), kExtents, Uniform({2}))
        .Fails(kBad, "broadcast"),
    Row(SparseDenseCwiseAdd{})
        .Inputs(Pairs({0, -1}), Uniform({1}), kExtents, Uniform({3}))
        .Fails(kBad, "[0, -1]"),
    Row(SparseDenseCwiseMul{}).Inputs(kIndices, Uniform({3}), kExtents, Uniform({})).Gradient(),
    Row(SparseDenseCwiseMul{}).Inputs(kIndices, Uniform({3}), kExtents, Uniform({2, 3})).Gradient(),
    Row(SparseDenseCwiseMul{})
        .Inputs(kIndices, Uniform({3}), kExtents, Uniform({1, 2, 3}))
        .Fails(kBad, "broadcast"),
    Row(SparseDenseCwiseMul{})
        .Inputs(Pairs({0, 3}), Uniform({1}), kExtents, Uniform({3}))
        .Fails(kBad, "[0, 3]"),
    Row(SparseDenseCwiseDiv{})
        .Inputs(kIndices, Uniform({3}), kExtents, Uniform({3}, 1, 2))
        .Gradient(),
    Row(SparseDenseCwiseDiv{})
        .Inputs(kIndices, Ints({1, 2, 3}), kExtents, Ints({1, 1, 0}))
        .Fails(kBad, "place 2"),
    Row(SparseDenseCwiseDiv{})
        .Inputs(kIndices, Uniform({3}), kExtents, Uniform({4}))
        .Fails(kBad, "broadcast"),
};

const OpRows kReduceRows{
    Row(SparseReduceSum{}).Inputs(kIndices, Uniform({3}), kExtents, Ints({1})).Gradient(),
    Row(SparseReduceSum{.keep_dims = true})
        .Inputs(kIndices, Uniform({3}), kExtents, Ints({0, -1}))
        .Gradient(),
    Row(SparseReduceSum{}).Inputs(kIndices, Uniform({3}), kExtents, Empty<int32_t>({0})).Gradient(),
    Row(SparseReduceSum{})
        .Inputs(kIndices, Uniform({3}), kExtents, Scalar<int32_t>(2))
        .Fails(kBad, "2"),
    Row(SparseReduceSum{})
        .Inputs(Pairs({5, 0}), Uniform({1}), kExtents, Ints({1}))
        .Fails(kBad, "[5, 0]"),
    Row(SparseReduceMax{})
        .Inputs(kIndices, Floats({-1, -2, -3}), Longs({3, 3}), Ints({1}))
        .Expect(Floats({-1, -2, 0})),
    Row(SparseReduceMax{})
        .Inputs(kIndices, Uniform({3}), Longs({-2, 3}), Ints({1}))
        .Fails(kBad, "-2"),
    Row(SparseReduceMax{})
        .Inputs(kIndices, Uniform({3}), kExtents, Values<int32_t>({1, 1}, {0}))
        .Fails(kBad, "reduction_axes"),
    Row(SparseReduceSumSparse{})
        .Inputs(Pairs({1, 2, 1, 0, 0, 1}), Floats({1, 2, 3}), kExtents, Ints({0}))
        .Expect(Values<int64_t>({3, 1}, {0, 1, 2}), Floats({2, 3, 1}), Longs({3})),
    Row(SparseReduceSumSparse{})
        .Inputs(kIndices, Uniform({3}), kExtents, Ints({-3}))
        .Fails(kBad, "-3"),
    Row(SparseReduceMaxSparse{.keep_dims = true})
        .Inputs(kIndices, Floats({-1, -2, -3}), Longs({3, 3}), Ints({1}))
        .Expect(Pairs({0, 0, 1, 0}), Floats({-1, -2}), Longs({3, 1})),
    Row(SparseReduceMaxSparse{})
        .Inputs(kIndices, Uniform({2}), kExtents, Ints({0}))
        .Fails(kBad, "[2]"),
    Row(SparseSoftmax{}).Inputs(kIndices, Uniform({3}), kExtents).Gradient(),
    Row(SparseSoftmax{})
        .Inputs(Values<int64_t>({1, 1}, {0}), Uniform({1}), Longs({3}))
        .Fails(kBad, "got 1"),
    Row(SparseSoftmax{}).Inputs(kIndices, Uniform({2}), kExtents).Fails(kBad, "[2]"),
};

}  // namespace
}  // namespace penstock::rows
