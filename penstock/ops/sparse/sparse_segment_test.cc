#include "penstock/ops/sparse/sparse_segment.h"

#include "penstock/ops/sparse/sparse_matmul.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

Value Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }
Value Longs(std::initializer_list<int64_t> values) { return Vector<int64_t>(values); }

const OpRows kSparseSegmentRows{
    Row(SparseSegmentSum{})
        .Inputs(Vector<float>({1, 2, 3}), Ints({0, 1, 1}), Ints({0, 2, 2}))
        .Expect(Vector<float>({1, 0, 4})),
    Row(SparseSegmentSum{}).Inputs(Uniform({5, 300}), Ints({4, 0, 4}), Ints({0, 0, 1})).Gradient(),
    Row(SparseSegmentSum{})
        .Inputs(Vector<int8_t>({100, 100}), Longs({0, 1}), Longs({0, 0}))
        .Expect(Vector<int8_t>({-56})),
    Row(SparseSegmentSum{})
        .Inputs(Uniform({2, 3}), Empty<int32_t>({0}), Empty<int32_t>({0}))
        .Expect(Empty({0, 3})),
    Row(SparseSegmentSum{})
        .Inputs(Uniform({2}), Ints({0, 2}), Ints({0, 0}))
        .Fails(kBad, "indices[1] = 2"),
    Row(SparseSegmentSum{})
        .Inputs(Uniform({2}), Ints({0, 1}), Ints({1, 0}))
        .Fails(kBad, "0 after 1"),
    Row(SparseSegmentMean{}).Inputs(Uniform({3, 2}), Ints({0, 0, 2}), Ints({0, 0, 2})).Gradient(),
    Row(SparseSegmentMean{})
        .Inputs(Uniform({2}), Ints({0}), Ints({0, 0}))
        .Fails(kBad, "[1] vs [2]"),
    Row(SparseSegmentMean{}).Inputs(Uniform({2}), Ints({0}), Ints({-1})).Fails(kBad, "-1"),
    Row(SparseSegmentSqrtN{}).Inputs(Uniform({3, 2}), Ints({0, 0, 2}), Ints({0, 0, 2})).Gradient(),
    Row(SparseSegmentSqrtN{}).Inputs(Uniform({}), Ints({0}), Ints({0})).Fails(kBad, "data"),
    Row(SparseSegmentSqrtN{}).Inputs(Uniform({2}), Ints({-1}), Ints({0})).Fails(kBad, "-1"),
    Row(SparseSegmentSumWithNumSegments{})
        .Inputs(Vector<float>({1, 2}), Ints({1}), Ints({1}), Scalar<int32_t>(3))
        .Expect(Vector<float>({0, 2, 0})),
    Row(SparseSegmentMeanWithNumSegments{})
        .Inputs(Uniform({3, 2}), Ints({0, 0, 2}), Ints({0, 0, 2}), Scalar<int32_t>(4))
        .Gradient(),
    Row(SparseSegmentMeanWithNumSegments{})
        .Inputs(Uniform({2}), Ints({1}), Ints({3}), Scalar<int32_t>(3))
        .Fails(kBad, "num_segments = 3, got 3"),
    Row(SparseSegmentSqrtNWithNumSegments{})
        .Inputs(Uniform({2}), Ints({1}), Ints({0}), Scalar<int32_t>(-3))
        .Fails(kBad, "-3"),
    Row(SparseSegmentSqrtNWithNumSegments{})
        .Inputs(Uniform({2}), Ints({1}), Ints({0}), Scalar<int64_t>(INT64_MAX))
        .Fails(kBad, "9223372036854775807"),
    Row(SparseSegmentSumGrad{})
        .Inputs(Vector<float>({1, 2, 3}), Ints({0, 1, 1}), Ints({2, 1, 2}), Scalar<int32_t>(3))
        .Expect(Vector<float>({3, 5, 0})),
    Row(SparseSegmentMeanGrad{})
        .Inputs(Vector<float>({1, 2, 3}), Ints({0, 1, 1}), Ints({2, 1, 2}), Scalar<int32_t>(3))
        .Expect(Vector<float>({1.5, 3.5, 0})),
    Row(SparseSegmentMeanGrad{})
        .Inputs(Uniform({2}), Ints({3}), Ints({0}), Scalar<int32_t>(3))
        .Fails(kBad, "[0, 3)"),
    Row(SparseSegmentSqrtNGrad{})
        .Inputs(Uniform({2}), Ints({1}), Ints({2}), Scalar<int32_t>(3))
        .Fails(kBad, "[0, 2)"),
    Row(SparseSegmentSqrtNGradV2{})
        .Inputs(Vector<float>({1, 2, 4}), Ints({4, 1, 1}), Ints({0, 2, 2}), Scalar<int32_t>(5))
        .Expect(Vector<float>({5.656854, 1}), Ints({1, 4})),
    Row(SparseSegmentSumGradV2{})
        .Inputs(Uniform({2}), Ints({1}), Ints({2}), Scalar<int32_t>(3))
        .Fails(kBad, "[0, 2)"),
    Row(SparseSegmentMeanGradV2{})
        .Inputs(Uniform({2}), Ints({1}), Ints({0}), Scalar<int32_t>(-3))
        .Fails(kBad, "-3"),
};

Value Matrix(Shape shape, std::initializer_list<int64_t> values) {
  return Values<int64_t>(std::move(shape), values);
}

const OpRows kSparseMatMulRows{
    Row(SparseTensorDenseMatMul{})
        .Inputs(Matrix({3, 2}, {1, 0, 0, 2, 1, 2}), Uniform({3}), Longs({2, 3}), Uniform({3, 4}))
        .Gradient(),
    Row(SparseTensorDenseMatMul{.adjoint_a = true, .adjoint_b = true})
        .Inputs(Matrix({3, 2}, {1, 0, 0, 2, 1, 2}), Uniform({3}), Longs({2, 3}), Uniform({4, 2}))
        .Gradient(),
    Row(SparseTensorDenseMatMul{.adjoint_a = true})
        .Inputs(Matrix({1, 2}, {0, 1}), Vector<complex64>({{1, 2}}), Longs({1, 2}),
                Values<complex64>({1, 1}, {{0, 1}}))
        .Expect(Values<complex64>({2, 1}, {{0, 0}, {2, 1}})),
    Row(SparseTensorDenseMatMul{})
        .Inputs(Empty<int64_t>({0, 2}), Empty({0}), Longs({2, 0}), Empty({0, 2}))
        .Expect(Values<float>({2, 2}, {0, 0, 0, 0})),
    Row(SparseTensorDenseMatMul{})
        .Inputs(Matrix({1, 2}, {0, 5}), Uniform({1}), Longs({2, 3}), Uniform({3, 2}))
        .Fails(kBad, "[0, 5]"),
    Row(SparseTensorDenseMatMul{})
        .Inputs(Matrix({1, 2}, {0, 1}), Uniform({1}), Longs({2, 4}), Uniform({3, 2}))
        .Fails(kBad, "4 vs 3"),
    Row(SparseMatMul{}).Inputs(Uniform({2, 3}), Uniform<bfloat16>({3, 4})),
    Row(SparseMatMul{.transpose_a = true, .transpose_b = true})
        .Inputs(Values<float>({1, 2}, {1, 2}), Values<float>({1, 1}, {3}))
        .Expect(Values<float>({2, 1}, {3, 6})),
    Row(SparseMatMul{}).Inputs(Uniform({2, 3}), Uniform({2, 3})).Fails(kBad, "3 vs 2"),
    Row(SparseMatMul{}).Inputs(Uniform({2}), Uniform({2, 3})).Fails(kBad, "rank 2"),
};

}  // namespace
}  // namespace penstock::rows
