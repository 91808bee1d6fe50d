#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/ops/activation.h"
#include "penstock/ops/add_n.h"
#include "penstock/ops/cast.h"
#include "penstock/ops/comparison.h"
#include "penstock/ops/complex.h"
#include "penstock/ops/logical.h"
#include "penstock/ops/select.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr bool kT = true, kF = false;
using Strings = std::initializer_list<std::string>;

const Value kAny = Uniform({3, 41}, -2, 2);
const Value kOther = Uniform({3, 41}, -1, 3);

Value Words(Strings values) { return Vector<std::string>(values); }

const OpRows kComparisonRows{
    Row(Less{}).Inputs(Vector({1.f, 2.f, kNan}), Scalar(2.f)).Expect(Vector({kT, kF, kF})),
    Row(Less{}).Inputs(kAny, kOther).EachElement([](double x, double y) { return double(x < y); }),
    Row(Less{})
        .Inputs(Vector<uint64_t>({1, ~uint64_t{0}}), Scalar<uint64_t>(2))
        .Expect(Vector({kT, kF})),
    Row(Less{}).Inputs(Uniform({2}), Uniform({3})).Fails(kBad, "[3]"),
    Row(LessEqual{})
        .Inputs(Vector<int8_t>({-1, 2, 3}), Scalar<int8_t>(2))
        .Expect(Vector({kT, kT, kF})),
    Row(Greater{})
        .Inputs(Vector<half>({half(1.f), half(3.f)}), Scalar(half(2.f)))
        .Expect(Vector({kF, kT})),
    Row(GreaterEqual{}).Inputs(Vector({1.0, 2.0, 3.0}), Scalar(2.0)).Expect(Vector({kF, kT, kT})),
    Row(Equal{}).Inputs(Words({"a", "b"}), Words({"a"})).Expect(Vector({kT, kF})),
    Row(Equal{}).Inputs(Vector({kT, kF}), Vector({kT, kT})).Expect(Vector({kT, kF})).Named("bool"),
    Row(Equal{}).Inputs(Vector({0.f, kNan}), Vector({-0.f, kNan})).Expect(Vector({kT, kF})),
    Row(Equal{})
        .Inputs(Vector<complex64>({{1, 2}, {1, 3}}), Scalar(complex64(1, 2)))
        .Expect(Vector({kT, kF})),
    Row(Equal{}).Inputs(Uniform({2}), Uniform({3})).Fails(kBad, "[3]"),
    Row(Equal{})
        .Inputs(Words({"a", "b"}), Words({"a", "b", "c"}))
        .Fails(kBad, "[3]")
        .Named("strings"),
    Row(Equal{.incompatible_shape_error = false})
        .Inputs(Uniform({2}), Uniform({3}))
        .Expect(Scalar(kF)),
    Row(Equal{.incompatible_shape_error = false})
        .Inputs(Vector({1.f, 2.f}), Scalar(2.f))
        .Expect(Vector({kF, kT})),
    Row(NotEqual{}).Inputs(Vector<int32_t>({1, 2}), Scalar<int32_t>(2)).Expect(Vector({kT, kF})),
    Row(NotEqual{.incompatible_shape_error = false})
        .Inputs(Words({"a", "b"}), Words({"a", "b", "c"}))
        .Expect(Scalar(kT)),
    Row(ApproximateEqual{})
        .Inputs(Vector({1.f, 2.f}), Vector({1.000001f, 2.1f}))
        .Expect(Vector({kT, kF})),
    Row(ApproximateEqual{.tolerance = 0.5f})
        .Inputs(Vector({1.0, 2.0}), Vector({1.4, 2.6}))
        .Expect(Vector({kT, kF})),
    Row(ApproximateEqual{}).Inputs(Uniform({2}), Scalar(1.f)).Fails(kBad, "[]"),
};

const OpRows kLogicalRows{
    Row(LogicalNot{}).Inputs(Vector({kT, kF})).Expect(Vector({kF, kT})),
    Row(LogicalNot{}).Inputs(Uniform({2})).Fails(kBad, "float"),
    Row(LogicalAnd{})
        .Inputs(Values({2, 1}, {kT, kF}), Vector({kT, kF}))
        .Expect(Values({2, 2}, {kT, kF, kF, kF})),
    Row(LogicalOr{}).Inputs(Vector({kT, kF}), Scalar(kF)).Expect(Vector({kT, kF})),
    Row(LogicalOr{}).Inputs(Vector({kT, kF}), Vector({kT, kF, kT})).Fails(kBad, "[3]"),
    Row(Invert{}).Inputs(Vector<uint8_t>({0, 1})).Expect(Vector<uint8_t>({255, 254})),
    Row(BitwiseAnd{}).Inputs(Scalar<int16_t>(-1), Scalar<int16_t>(12)).Expect(Scalar<int16_t>(12)),
    Row(BitwiseOr{}).Inputs(Scalar<uint32_t>(9), Scalar<uint32_t>(4)).Expect(Scalar<uint32_t>(13)),
    Row(BitwiseXor{}).Inputs(Scalar<int64_t>(-1), Scalar<int64_t>(1)).Expect(Scalar<int64_t>(-2)),
    Row(LeftShift{})
        .Inputs(Vector<int8_t>({1, 1, 1}), Vector<int8_t>({3, -5, 100}))
        .Expect(Vector<int8_t>({8, 1, -128})),
    Row(RightShift{})
        .Inputs(Vector<int32_t>({-8, 8}), Vector<int32_t>({1, 99}))
        .Expect(Vector<int32_t>({-4, 0})),
};

const OpRows kActivationRows{
    Row(Relu{}).Inputs(kAny).EachElement([](double x) { return std::max(x, 0.0); }).Gradient(),
    Row(Relu{}).Inputs(Vector({kNan, -1.f})).Expect(Vector({kNan, 0.f})).NoGradient(),
    Row(ReluGrad{})
        .Inputs(kOther, kAny)
        .EachElement([](double dy, double x) { return x > 0 ? dy : 0; })
        .Gradient(),
    Row(ReluGrad{}).Inputs(Uniform({2}), Uniform({3})).Fails(kBad, "[3]"),
    Row(Relu6{}).Inputs(Vector<int32_t>({-1, 3, 9})).Expect(Vector<int32_t>({0, 3, 6})),
    Row(Relu6{}).Inputs(kAny).Gradient(),
    Row(Relu6Grad{}).Inputs(kOther, kAny).Gradient(),
    Row(LeakyRelu{})
        .Inputs(kAny)
        .EachElement([](double x) { return x > 0 ? x : 0.2f * x; })
        .Gradient(),
    Row(LeakyRelu{.alpha = 0.5f})
        .Inputs(Vector<half>({half(-2.f), half(3.f)}))
        .Expect(Vector<half>({half(-1.f), half(3.f)})),
    Row(LeakyReluGrad{.alpha = 0.5f})
        .Inputs(kOther, kAny)
        .EachElement([](double dy, double x) { return x > 0 ? dy : dy / 2; })
        .Gradient(),
    Row(Elu{})
        .Inputs(kAny)
        .EachElement([](double x) { return x < 0 ? std::expm1(x) : x; })
        .Gradient(),
    Row(EluGrad{})
        .Inputs(kOther, kAny)
        .EachElement([](double dy, double y) { return y < 0 ? dy * (y + 1) : dy; })
        .Gradient(),
    Row(Selu{})
        .Inputs(kAny)
        .EachElement(
            [](double x) { return x < 0 ? kSeluScaleAlpha * std::expm1(x) : kSeluScale * x; })
        .Gradient(),
    Row(SeluGrad{}).Inputs(kOther, kAny).Gradient(),
    Row(Softplus{})
        .Inputs(kAny)
        .EachElement([](double x) { return std::log1p(std::exp(x)); })
        .Gradient(),
    Row(Softplus{})
        .Inputs(Vector({-200.f, 200.f}))
        .Expect(Vector({0.f, 200.f}))
        .NoGradient()
        .Named("far"),
    Row(SoftplusGrad{})
        .Inputs(kOther, kAny)
        .EachElement([](double dy, double x) { return dy / (1 + std::exp(-x)); })
        .Gradient(),
    Row(Softsign{})
        .Inputs(kAny)
        .EachElement([](double x) { return x / (1 + std::fabs(x)); })
        .Gradient(),
    Row(SoftsignGrad{}).Inputs(kOther, kAny).Gradient(),
};

const OpRows kComplexRows{
    Row(Complex{})
        .Inputs(Vector({1.f, 2.f}), Scalar(3.f))
        .Expect(Vector<complex64>({{1, 3}, {2, 3}})),
    Row(Complex{})
        .Attr("Tout", DType::kComplex128)
        .Inputs(Scalar(1.0), Scalar(2.0))
        .Expect(Scalar(complex128(1, 2))),
    Row(Complex{})
        .Inputs(Scalar(1.0), Scalar(2.0))
        .Fails(Code::kUnimplemented, "complex64")
        .Named("mixed"),
    Row(Real{}).Inputs(Vector<complex64>({{1, 2}})).Expect(Vector({1.f})),
    Row(Imag{}).Inputs(Vector<complex64>({{1, 2}})).Expect(Vector({2.f})),
    Row(Conjugate{}).Inputs(Vector<complex64>({{1, 2}})).Expect(Vector<complex64>({{1, -2}})),
    Row(ComplexAbs{}).Inputs(Vector<complex64>({{3, -4}})).Expect(Vector({5.f})),
    Row(Angle{}).Inputs(Vector<complex64>({{0, 2}})).Expect(Vector({static_cast<float>(M_PI / 2)})),
    Row(Angle{}).Inputs(Uniform({2})).Fails(kBad, "float"),
};

const OpRows kSelectRows{
    Row(SelectV2{})
        .Inputs(Vector({kT, kF}), Vector({1.f, 2.f}), Scalar(9.f))
        .Expect(Vector({1.f, 9.f}))
        .Gradient(),
    Row(SelectV2{})
        .Inputs(Values({2, 1}, {kT, kF}), Words({"a", "b"}), Scalar<std::string>("c"))
        .Expect(Values<std::string>({2, 2}, {"a", "b", "c", "c"})),
    Row(SelectV2{})
        .Inputs(Scalar(kF), Scalar(complex128(1, 2)), Scalar(complex128(3, 4)))
        .Expect(Scalar(complex128(3, 4))),
    Row(SelectV2{}).Inputs(Vector({kT, kF}), Uniform({3}), Scalar(1.f)).Fails(kBad, "[3]"),
    Row(Select{})
        .Inputs(Vector({kT, kF}), Values<int8_t>({2, 2}, {1, 2, 3, 4}),
                Values<int8_t>({2, 2}, {5, 6, 7, 8}))
        .Expect(Values<int8_t>({2, 2}, {1, 2, 7, 8})),
    Row(Select{}).Inputs(Vector({kT, kF}), Uniform({2, 3}), Uniform({2, 3})).Gradient(),
    Row(Select{}).Inputs(Scalar(kF), Words({"a"}), Words({"b"})).Expect(Words({"b"})),
    Row(Select{})
        .Inputs(Vector({kT, kF}), Words({"a", "b"}), Words({"c", "d"}))
        .Expect(Words({"a", "d"})),
    Row(Select{}).Inputs(Vector({kT, kF}), Uniform({3}), Uniform({3})).Fails(kBad, "[3]"),
    Row(Select{}).Inputs(Vector({kT}), Scalar(1.f), Scalar(2.f)).Fails(kBad, "scalar"),
    Row(Select{})
        .Inputs(Scalar(kT), Uniform({2}), Scalar(2.f))
        .Fails(kBad, "must agree")
        .Named("unlike"),
    Row(ClipByValue{})
        .Inputs(Vector({-2.f, 0.5f, 2.f}), Scalar(-1.f), Scalar(1.f))
        .Expect(Vector({-1.f, 0.5f, 1.f}))
        .Gradient(),
    Row(ClipByValue{})
        .Inputs(Vector({-2.f, 2.f}), Vector({-1.f, -1.f}), Vector({1.f, 1.5f}))
        .Gradient(),
    Row(ClipByValue{})
        .Inputs(Vector({kNan, 0.f}), Scalar(2.f), Scalar(1.f))
        .Expect(Vector({kNan, 2.f}))
        .NoGradient()
        .Named("bounds_crossed"),
    Row(ClipByValue{}).Inputs(Uniform({2}), Uniform({3}), Scalar(1.f)).Fails(kBad, "[3]"),
    Row(ClipByValue{})
        .Inputs(Scalar(1.f), Uniform({3}), Scalar(1.f))
        .Fails(kBad, "must agree")
        .Named("scalar"),
};

const OpRows kCastRows{
    Row(Cast{.DstT = DType::kInt32}).Inputs(Vector({1.7f, -1.7f})).Expect(Vector<int32_t>({1, -1})),
    Row(Cast{.DstT = DType::kBool}).Inputs(Vector<int64_t>({0, 5})).Expect(Vector({kF, kT})),
    Row(Cast{.DstT = DType::kFloat}).Inputs(Uniform<double>({2, 3})).Gradient(),
    Row(Cast{.DstT = DType::kFloat}).Inputs(Vector({1.f})).Expect(Vector({1.f})).Named("same"),
    Row(Cast{.DstT = DType::kString}).Inputs(Vector({1.f})).Fails(Code::kUnimplemented, "string"),
    Row(Cast{.DstT = DType::kFloat}).Inputs(Words({"1"})).Fails(Code::kUnimplemented, "string"),
    Row(Bitcast{.type = DType::kInt32}).Inputs(Vector({1.f})).Expect(Vector<int32_t>({0x3f800000})),
    Row(Bitcast{.type = DType::kUint8})
        .Inputs(Vector<uint16_t>({258}))
        .Expect(Values<uint8_t>({1, 2}, {2, 1})),
    Row(Bitcast{.type = DType::kUint16})
        .Inputs(Values<uint8_t>({1, 2}, {2, 1}))
        .Expect(Vector<uint16_t>({258})),
    Row(Bitcast{.type = DType::kUint16})
        .Inputs(Values<uint8_t>({1, 3}, {2, 1, 0}))
        .Fails(kBad, "must be 2"),
    Row(Bitcast{.type = DType::kUint16}).Inputs(Scalar<uint8_t>(1)).Fails(kBad, "rank at least 1"),
    Row(Bitcast{.type = DType::kDouble}).Inputs(Empty({0, 2})).Expect(Empty<double>({0})),
};

const OpRows kAddNRows{
    Row(AddN{}).Inputs(Uniform({3, 4}), Uniform({3, 4}), Uniform({3, 4})).Gradient(),
    Row(AddN{}).Inputs(Vector<int32_t>({1, 2})).Expect(Vector<int32_t>({1, 2})).Named("one"),
    Row(AddN{})
        .Inputs(Vector<int32_t>({1, 2}), Vector<int32_t>({10, 20}), Vector<int32_t>({100, 200}))
        .Expect(Vector<int32_t>({111, 222})),
    Row(AddN{})
        .Inputs(Uniform({70001}), Uniform({70001}), Uniform({70001}), Uniform({70001}))
        .NoGradient()
        .Named("parallel"),
    Row(AddN{}).Inputs(Empty({0}), Empty({0})).Expect(Empty({0})),
    Row(AddN{}).Inputs(Uniform({2}), Uniform({3})).Fails(kBad, "[3]"),
    Row(AddN{}).Inputs(Uniform({2}), Scalar(1.f)).Fails(kBad, "[]").Named("no_broadcast"),
    Row(AccumulateNV2{.shape = Shape({2})}).Inputs(Uniform({2}), Uniform({2})).Gradient(),
    Row(AccumulateNV2{.shape = Shape({3})}).Inputs(Uniform({2}), Uniform({2})).Fails(kBad, "[3]"),
};

}  // namespace
}  // namespace penstock::rows
