#include "penstock/ops/matmul.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

const OpRows kMatMulRows{
    Row(MatMul{})
        .Inputs(Values<float>({2, 3}, {1, 2, 3, 4, 5, 6}), Values<float>({3, 1}, {1, 2, 3}))
        .Expect(Values<float>({2, 1}, {14, 32}))
        .Gradient(),
    Row(MatMul{.transpose_a = true}).Inputs(Uniform({5, 3}), Uniform({5, 4})).Gradient(),
    Row(MatMul{.transpose_b = true}).Inputs(Uniform({3, 5}), Uniform({4, 5})).Gradient(),
    Row(MatMul{.transpose_a = true, .transpose_b = true})
        .Inputs(Uniform({5, 3}), Uniform({4, 5}))
        .Gradient(),
    Row(MatMul{}).Inputs(Uniform({64, 300}), Uniform({300, 48})).NoGradient().Named("larger"),
    Row(MatMul{}).Inputs(Empty({0, 3}), Uniform({3, 5})).Expect(Empty({0, 5})).Named("no_rows"),
    Row(MatMul{})
        .Inputs(Empty({2, 0}), Empty({0, 2}))
        .Expect(Values<float>({2, 2}, {0, 0, 0, 0}))
        .Named("nothing_to_sum"),
    Row(MatMul{})
        .Inputs(Values<uint8_t>({1, 2}, {200, 2}), Values<uint8_t>({2, 1}, {2, 3}))
        .Expect(Values<uint8_t>({1, 1}, {150}))
        .Named("uint8_wraps"),
    Row(MatMul{})
        .Inputs(Values<uint32_t>({1, 1}, {3000000000u}), Values<uint32_t>({1, 1}, {2}))
        .Expect(Values<uint32_t>({1, 1}, {1705032704u}))
        .Named("uint32_wraps"),
    Row(MatMul{}).Inputs(Uniform({2, 3}), Uniform({4, 5})).Fails(Code::kInvalidArgument, "3 vs 4"),
    Row(MatMul{}).Inputs(Uniform({2}), Uniform({2, 5})).Fails(Code::kInvalidArgument, "rank 2"),
    Row(MatMul{})
        .Inputs(Empty({int64_t{1} << 40, 0}), Empty({0, int64_t{1} << 40}))
        .Fails(Code::kInvalidArgument, "64 bits"),
};

const OpRows kBatchMatMulRows{
    Row(BatchMatMul{}).Inputs(Uniform({2, 3, 4}), Uniform({2, 4, 2})).Gradient(),
    Row(BatchMatMul{.adj_x = true}).Inputs(Uniform({2, 4, 3}), Uniform({2, 4, 2})).Gradient(),
    Row(BatchMatMul{.adj_x = true, .adj_y = true})
        .Inputs(Uniform({2, 4, 3}), Uniform({2, 2, 4}))
        .Gradient(),
    Row(BatchMatMul{})
        .Inputs(Uniform({2, 3, 4}), Uniform({1, 4, 2}))
        .Fails(Code::kInvalidArgument, "2"),
    Row(BatchMatMul{}).Inputs(Uniform({3}), Uniform({3, 2})).Fails(Code::kInvalidArgument, "rank"),
    Row(BatchMatMul{.adj_x = true})
        .Inputs(Values<complex64>({2, 1}, {{1, 2}, {3, 4}}),
                Values<complex64>({2, 1}, {{1, 0}, {0, 1}}))
        .Expect(Values<complex64>({1, 1}, {{5, 1}}))
        .Named("adjoint"),
    Row(BatchMatMulV2{}).Inputs(Uniform({2, 1, 3, 4}), Uniform({5, 4, 2})).Gradient(),
    Row(BatchMatMulV2{.adj_y = true}).Inputs(Uniform({3, 4}), Uniform({2, 3, 5, 4})).Gradient(),
    Row(BatchMatMulV2{}).Inputs(Uniform({2, 3, 4}), Uniform({4, 2})).Gradient().Named("tall"),
    Row(BatchMatMulV2{.adj_x = true})
        .Inputs(Uniform({2, 4, 3}), Uniform({4, 2}))
        .Gradient()
        .Named("not_tall"),
    Row(BatchMatMulV2{}).Inputs(Empty({0, 3, 4}), Uniform({4, 2})).Expect(Empty({0, 3, 2})),
    Row(BatchMatMulV2{})
        .Inputs(Uniform({2, 3, 4}), Uniform({3, 4, 2}))
        .Fails(Code::kInvalidArgument, "2"),
    Row(BatchMatMulV2{})
        .Inputs(Uniform({2, 3, 4}), Uniform({3, 2}))
        .Fails(Code::kInvalidArgument, "4 vs 3"),
    Row(BatchMatMulV3{}).Inputs(Uniform({2, 3, 4}), Uniform({4, 2})).Attr("Tout", DType::kFloat),
    Row(BatchMatMulV3{})
        .Inputs(Uniform<int8_t>({2, 3}), Uniform<int8_t>({3, 2}))
        .Attr("Tout", DType::kInt32)
        .Fails(Code::kUnimplemented, "types of a product"),
};

}  // namespace
}  // namespace penstock::rows
