#include "penstock/ops/sparse/sparse_to_dense.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

Value Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }
Value Longs(std::initializer_list<int64_t> values) { return Vector<int64_t>(values); }

const OpRows kToDenseRows{
    Row(SparseToDense{})
        .Inputs(Ints({1, 3}), Ints({5}), Scalar<float>(7), Scalar<float>(-1))
        .Expect(Vector<float>({-1, 7, -1, 7, -1})),
    Row(SparseToDense{})
        .Inputs(Values<int64_t>({2, 2}, {0, 1, 1, 0}), Longs({2, 2}), Uniform({2}), Uniform({}))
        .Gradient(),
    Row(SparseToDense{})
        .Inputs(Scalar<int32_t>(0), Ints({2}), Vector<std::string>({"a"}), Scalar<std::string>("b"))
        .Expect(Vector<std::string>({"a", "b"})),
    Row(SparseToDense{.validate_indices = false})
        .Inputs(Ints({1, 1}), Ints({2}), Ints({3, 4}), Scalar<int32_t>(0))
        .Expect(Ints({0, 4})),
    Row(SparseToDense{})
        .Inputs(Empty<int32_t>({0, 2}), Ints({1, 2}), Empty({0}), Scalar<float>(2))
        .Expect(Values<float>({1, 2}, {2, 2})),
    Row(SparseToDense{})
        .Inputs(Ints({1, 1}), Ints({2}), Uniform({2}), Uniform({}))
        .Fails(kBad, "repeated"),
    Row(SparseToDense{})
        .Inputs(Ints({1, 0}), Ints({2}), Uniform({2}), Uniform({}))
        .Fails(kBad, "order"),
    Row(SparseToDense{})
        .Inputs(Ints({1, 2}), Ints({2}), Uniform({2}), Uniform({}))
        .Fails(kBad, "[2]"),
    Row(SparseToDense{})
        .Inputs(Ints({1, 2}), Ints({2}), Uniform({3}), Uniform({}))
        .Fails(kBad, "[3]"),
};

}  // namespace
}  // namespace penstock::rows
