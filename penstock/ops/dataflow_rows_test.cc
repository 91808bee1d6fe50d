#include <limits>

#include "penstock/ops/assertions.h"
#include "penstock/ops/dataflow.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

const OpRows kDataflowRows{
    Row(Identity{}).Inputs(Uniform({2, 3})).Gradient(),
    Row(IdentityN{})
        .Inputs(Vector<float>({1, 2}), Scalar<std::string>("a"), Empty<int32_t>({0, 3}))
        .Expect(Vector<float>({1, 2}), Scalar<std::string>("a"), Empty<int32_t>({0, 3})),
    Row(IdentityN{}).Inputs(Uniform({2}), Uniform({3, 1})).Gradient().Named("numbers"),
    Row(StopGradient{}).Inputs(Vector<float>({1, 2})).Expect(Vector<float>({1, 2})),
    Row(PreventGradient{.message = "no"}).Inputs(Scalar(2.f)).Expect(Scalar(2.f)).NoGradient(),
    Row(EnsureShape{.shape = {-1, 3}}).Inputs(Uniform({2, 3})).Gradient(),
    Row(EnsureShape{.shape = {-1, 3}}).Inputs(Uniform({3, 2})).Fails(kBad, ",2]"),
    Row(EnsureShape{.shape = {2}}).Inputs(Scalar(1.f)).Fails(kBad, "[2]").Named("rank"),
    Row(Snapshot{}).Inputs(Vector<std::string>({"a", "b"})).Expect(Vector<std::string>({"a", "b"})),
    Row(DeepCopy{}).Inputs(Uniform({70, 90})),
    Row(GuaranteeConst{}).Inputs(Vector<int64_t>({1, 2})).Expect(Vector<int64_t>({1, 2})),
    Row("Empty")
        .Attr("dtype", DType::kFloat)
        .Attr("init", true)
        .Inputs(Vector<int32_t>({2, 1}))
        .Expect(Values<float>({2, 1}, {0, 0})),
    Row("Empty")
        .Attr("dtype", DType::kString)
        .Inputs(Empty<int32_t>({0}))
        .Expect(Scalar<std::string>("")),
    Row("Empty").Attr("dtype", DType::kFloat).Inputs(Vector<int32_t>({2, -1})).Fails(kBad, "-1"),
    Row("Empty").Attr("dtype", DType::kFloat).Inputs(Scalar<int32_t>(2)).Fails(kBad, "vector"),
};

const OpRows kAssertionRows{
    Row(CheckNumerics{.message = "x"}).Inputs(Uniform({40, 50})).Gradient(),
    Row(CheckNumerics{.message = "x"}).Inputs(Uniform<half>({3})).NoGradient(),
    Row(CheckNumerics{.message = "x"}).Inputs(Empty({0})).Expect(Empty({0})).Named("empty"),
    Row(CheckNumerics{.message = "here"})
        .Inputs(Vector({1.f, kInf}))
        .Fails(kBad, "here : Tensor had Inf"),
    Row(CheckNumerics{.message = "x"}).Inputs(Vector({kNaN})).Fails(kBad, "NaN"),
    Row(CheckNumerics{.message = "x"}).Inputs(Vector({kNaN, -kInf})).Fails(kBad, "Inf and NaN"),
    Row(Assert{})
        .Inputs(Scalar(false), Vector<int32_t>({1, 2, 3, 4}), Scalar<std::string>("why"))
        .Fails(kBad, "[1 2 3...]"),
    Row(Assert{.summarize = -1})
        .Inputs(Scalar(false), Vector<int32_t>({1, 2, 3, 4}))
        .Fails(kBad, "[1 2 3 4]"),
    Row(Assert{}).Inputs(Vector<bool>({true}), Scalar(1.f)).Fails(kBad, "scalar"),
    Row(Print{}).Inputs(Scalar(1.f)).Expect(Scalar(1.f)).Named("no_data"),
};

}  // namespace
}  // namespace penstock::rows
