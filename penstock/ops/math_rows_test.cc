#include <cmath>
#include <limits>

#include "penstock/ops/division.h"
#include "penstock/ops/math_binary.h"
#include "penstock/ops/math_functions.h"
#include "penstock/ops/math_gradients.h"
#include "penstock/ops/math_unary.h"
#include "penstock/ops/special.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Input kinds that tests of one function share.
const Value kAny = Uniform({3, 41}, -2, 2);
const Value kPositive = Uniform({3, 41}, 0.1, 3);
const Value kWithinOne = Uniform({3, 41}, -0.9, 0.9);
const Value kAboveOne = Uniform({3, 41}, 1.1, 4);

const OpRows kMathUnaryRows{
    Row(Abs{}).Inputs(kAny).EachElement(std::fabs).Gradient(),
    Row(Abs{}).Inputs(Vector<int8_t>({-128, -1, 5})).Expect(Vector<int8_t>({-128, 1, 5})),
    Row(Neg{}).Inputs(kAny).EachElement([](double x) { return -x; }).Gradient(),
    Row(Neg{}).Inputs(Scalar(INT32_MIN)).Expect(Scalar(INT32_MIN)).Named("wraps"),
    Row(Sign{}).Inputs(Vector({-3.f, 0.f, 2.f})).Expect(Vector({-1.f, 0.f, 1.f})).NoGradient(),
    Row(Square{}).Inputs(kAny).EachElement([](double x) { return x * x; }).Gradient(),
    Row(Square{}).Inputs(Vector<uint8_t>({3, 17})).Expect(Vector<uint8_t>({9, 33})),
    Row(Sqrt{}).Inputs(kPositive).EachElement(std::sqrt).Gradient(),
    Row(Rsqrt{})
        .Inputs(kPositive)
        .EachElement([](double x) { return 1 / std::sqrt(x); })
        .Gradient(),
    Row(Reciprocal{}).Inputs(kPositive).EachElement([](double x) { return 1 / x; }).Gradient(),
    Row(Inv{}).Inputs(kPositive).EachElement([](double x) { return 1 / x; }).Gradient(),
    Row(Floor{}).Inputs(kAny).EachElement(std::floor),
    Row(Ceil{}).Inputs(kAny).EachElement(std::ceil),
    Row(Rint{}).Inputs(Vector({0.5f, 1.5f, -2.5f})).Expect(Vector({0.f, 2.f, -2.f})),
    Row(Round{}).Inputs(Vector({0.5f, 1.5f, -2.5f})).Expect(Vector({0.f, 2.f, -2.f})),
    Row(Round{}).Inputs(Vector<int64_t>({-7})).Expect(Vector<int64_t>({0})).Named("as_recorded"),
    Row(IsNan{}).Inputs(Vector({1.f, kNan, kInf})).Expect(Vector({false, true, false})),
    Row(IsInf{}).Inputs(Vector({1.f, kNan, -kInf})).Expect(Vector({false, false, true})),
    Row(IsFinite{}).Inputs(Vector({1.f, kNan, kInf})).Expect(Vector({true, false, false})),
    Row(ZerosLike{}).Inputs(Uniform<double>({2})).Expect(Vector({0.0, 0.0})),
    Row(ZerosLike{}).Inputs(Vector<std::string>({"a"})).Expect(Vector<std::string>({""})),
    Row(OnesLike{}).Inputs(Vector({false})).Expect(Vector({true})),
    Row(OnesLike{}).Inputs(Empty<half>({0, 3})).Expect(Empty<half>({0, 3})),
};

const OpRows kMathFunctionRows{
    Row(Exp{}).Inputs(kAny).EachElement(std::exp).Gradient(),
    Row(Exp{}).Inputs(Scalar(0.0)).Expect(Scalar(1.0)).Gradient().Named("scalar"),
    Row(Exp{}).Inputs(Empty({2, 0})).Expect(Empty({2, 0})).Named("empty"),
    Row(Exp{}).Inputs(Uniform({70001}, -3, 3)).EachElement(std::exp).NoGradient().Named("parallel"),
    Row(Exp{}).Inputs(Uniform<half>({1025})).EachElement(std::exp).Tolerance(2e-3).Named("half"),
    Row(Exp{}).Inputs(Uniform<bfloat16>({9})).EachElement(std::exp).Tolerance(1e-2),
    Row(Expm1{}).Inputs(kAny).EachElement(std::expm1).Gradient(),
    Row(Log{}).Inputs(kPositive).EachElement(std::log).Gradient(),
    Row(Log1p{}).Inputs(kWithinOne).EachElement(std::log1p).Gradient(),
    Row(Sigmoid{})
        .Inputs(kAny)
        .EachElement([](double x) { return 1 / (1 + std::exp(-x)); })
        .Gradient(),
    Row(Tanh{}).Inputs(kAny).EachElement(std::tanh).Gradient(),
    Row(Sinh{}).Inputs(kAny).EachElement(std::sinh).Gradient(),
    Row(Cosh{}).Inputs(kAny).EachElement(std::cosh).Gradient(),
    Row(Asinh{}).Inputs(kAny).EachElement(std::asinh).Gradient(),
    Row(Acosh{}).Inputs(kAboveOne).EachElement(std::acosh).Gradient(),
    Row(Atanh{}).Inputs(kWithinOne).EachElement(std::atanh).Gradient(),
    Row(Sin{}).Inputs(kAny).EachElement(std::sin).Gradient(),
    Row(Sin{}).Inputs(Uniform({300}, 0, 1e12)).EachElement(std::sin).NoGradient().Named("far"),
    Row(Cos{}).Inputs(kAny).EachElement(std::cos).Gradient(),
    Row(Tan{}).Inputs(kWithinOne).EachElement(std::tan).Gradient(),
    Row(Asin{}).Inputs(kWithinOne).EachElement(std::asin).Gradient(),
    Row(Acos{}).Inputs(kWithinOne).EachElement(std::acos).Gradient(),
    Row(Atan{}).Inputs(kAny).EachElement(std::atan).Gradient(),
    Row(Erf{}).Inputs(kAny).EachElement(std::erf).Gradient(),
    Row(Erfc{}).Inputs(kAny).EachElement(std::erfc).Gradient(),
    Row(Lgamma{}).Inputs(kPositive).EachElement(std::lgamma).Gradient(),
    Row(Digamma{})
        .Inputs(Vector({1.0, 0.0}))
        .Expect(Vector({-0.57721566490153286, std::nan("")}))
        .NoGradient(),
    Row(Digamma{}).Inputs(kPositive).Gradient(),
    Row(Zeta{}).Inputs(Scalar(2.0), Scalar(1.0)).Expect(Scalar(M_PI* M_PI / 6)).NoGradient(),
    Row(Polygamma{}).Inputs(Scalar(1.0), Scalar(-1e300)).Expect(Scalar(std::nan(""))).NoGradient(),
};

const OpRows kMathBinaryRows{
    Row(AddV2{}).Inputs(Uniform({3, 5}), Uniform({5})).Gradient(),
    Row(AddV2{}).Inputs(Uniform({4, 1, 5}), Uniform({3, 1})).Gradient().Named("both_broadcast"),
    Row(AddV2{}).Inputs(Uniform({7}), Scalar(2.f)).EachElement([](double x, double y) {
      return x + y;
    }),
    Row(AddV2{}).Inputs(Empty({0, 3}), Uniform({3})).Expect(Empty({0, 3})).Named("empty"),
    Row(AddV2{}).Inputs(Uniform({2, 3}), Uniform({2, 4})).Fails(kBad, "do not broadcast"),
    Row(AddV2{}).Inputs(Uniform({2}), Uniform<double>({2})).Fails(kBad, "double"),
    Row(Add{})
        .Inputs(Vector<std::string>({"a", "b"}), Scalar<std::string>("c"))
        .Expect(Vector<std::string>({"ac", "bc"})),
    Row(Add{})
        .Inputs(Values<std::string>({2, 1}, {"a", "b"}), Vector<std::string>({"c", "d"}))
        .Expect(Values<std::string>({2, 2}, {"ac", "ad", "bc", "bd"})),
    Row(Add{})
        .Inputs(Vector<std::string>({"a", "b"}), Vector<std::string>({"c", "d", "e"}))
        .Fails(kBad, "[3]"),
    Row(Sub{})
        .Inputs(Scalar<int8_t>(-128), Scalar<int8_t>(1))
        .Expect(Scalar<int8_t>(127))
        .Named("wraps"),
    Row(Sub{}).Inputs(Uniform({3, 5}), Uniform({3, 1})).Gradient(),
    Row(Mul{}).Inputs(Uniform({3, 5}), Uniform({5})).Gradient(),
    Row(Mul{})
        .Inputs(Scalar<int64_t>(INT64_MIN), Scalar<int64_t>(-1))
        .Expect(Scalar<int64_t>(INT64_MIN)),
    Row(MulNoNan{})
        .Inputs(Vector({kInf, 2.f}), Vector({0.f, 3.f}))
        .Expect(Vector({0.f, 6.f}))
        .NoGradient(),
    Row(SquaredDifference{}).Inputs(Uniform({3, 5}), Uniform({5})).Gradient(),
    Row(Maximum{}).Inputs(Uniform({3, 5}), Uniform({5})).Gradient(),
    Row(Maximum{})
        .Inputs(Vector({kNan, 1.f}), Vector({1.f, kNan}))
        .Expect(Vector({kNan, kNan}))
        .NoGradient(),
    Row(Minimum{}).Inputs(Uniform({3, 5}), Uniform({5})).Gradient(),
    Row(Pow{}).Inputs(kPositive, Uniform({41})).Gradient(),
    Row(Pow{})
        .Inputs(Vector<int32_t>({2, 3}), Vector<int32_t>({10, 0}))
        .Expect(Vector<int32_t>({1024, 1})),
    Row(Pow{})
        .Inputs(Vector<int32_t>({2, 3}), Vector<int32_t>({1, -1}))
        .Fails(kBad, "negative integer powers"),
    Row(Xlogy{})
        .Inputs(Vector({0.f, 2.f}), Vector({0.f, 1.f}))
        .Expect(Vector({0.f, 0.f}))
        .NoGradient(),
    Row(Xlogy{}).Inputs(kAny, kPositive).Gradient(),
    Row(Xlog1py{}).Inputs(kAny, kPositive).Gradient(),
    Row(Atan2{})
        .Inputs(kAny, kPositive)
        .EachElement([](double y, double x) { return std::atan2(y, x); })
        .Gradient(),
    Row(NextAfter{}).Inputs(Scalar(1.f), Scalar(2.f)).Expect(Scalar(1 + 0x1p-23f)).NoGradient(),
};

const OpRows kDivisionRows{
    Row(Div{})
        .Inputs(Vector<int32_t>({-7, INT32_MIN}), Vector<int32_t>({2, -1}))
        .Expect(Vector<int32_t>({-3, INT32_MIN})),
    Row(Div{}).Inputs(Scalar<int32_t>(1), Vector<int32_t>({1, 0})).Fails(kBad, "division by zero"),
    Row(Div{})
        .Inputs(Empty<int32_t>({0}), Scalar<int32_t>(0))
        .Expect(Empty<int32_t>({0}))
        .Named("nothing_by_zero"),
    Row(Div{}).Inputs(kAny, kPositive).Gradient(),
    Row(RealDiv{})
        .Inputs(kAny, kPositive)
        .EachElement([](double x, double y) { return x / y; })
        .Gradient(),
    Row(RealDiv{})
        .Inputs(Scalar<int32_t>(1), Scalar<int32_t>(1))
        .Fails(Code::kUnimplemented, "int32"),
    Row(DivNoNan{})
        .Inputs(Vector({1.f, 6.f}), Vector({0.f, 3.f}))
        .Expect(Vector({0.f, 2.f}))
        .NoGradient(),
    Row(DivNoNan{}).Inputs(kAny, kPositive).Gradient(),
    Row(Xdivy{})
        .Inputs(Vector({0.f, 6.f}), Vector({0.f, 3.f}))
        .Expect(Vector({0.f, 2.f}))
        .NoGradient(),
    Row(Xdivy{}).Inputs(kAny, kPositive).Gradient(),
    Row(FloorDiv{})
        .Inputs(Vector<int64_t>({-7, 7}), Scalar<int64_t>(2))
        .Expect(Vector<int64_t>({-4, 3})),
    Row(FloorDiv{}).Inputs(Scalar<uint8_t>(1), Scalar<uint8_t>(0)).Fails(kBad, "division by zero"),
    Row(FloorMod{})
        .Inputs(Vector<int32_t>({-7, 7}), Vector<int32_t>({3, -3}))
        .Expect(Vector<int32_t>({2, -2})),
    Row(FloorMod{})
        .Inputs(kAny, kPositive)
        .EachElement([](double x, double y) { return x - std::floor(x / y) * y; })
        .NoGradient(),
    Row(FloorMod{}).Inputs(Scalar<int64_t>(1), Scalar<int64_t>(0)).Fails(kBad, "division by zero"),
    Row(Mod{})
        .Inputs(Vector<int32_t>({-7, 7}), Vector<int32_t>({3, -3}))
        .Expect(Vector<int32_t>({-1, 1})),
    Row(Mod{}).Inputs(Scalar<int32_t>(1), Scalar<int32_t>(0)).Fails(kBad, "division by zero"),
    Row(TruncateMod{}).Inputs(Vector({-7.f, 7.f}), Scalar(3.f)).Expect(Vector({-1.f, 1.f})),
    Row(TruncateMod{})
        .Inputs(Scalar<int32_t>(1), Scalar<int32_t>(0))
        .Fails(kBad, "division by zero"),
    Row(TruncateDiv{})
        .Inputs(Vector<int16_t>({-7, 7}), Scalar<int16_t>(2))
        .Expect(Vector<int16_t>({-3, 3})),
    Row(TruncateDiv{})
        .Inputs(Scalar<int16_t>(1), Scalar<int16_t>(0))
        .Fails(kBad, "division by zero"),
};

const OpRows kMathGradientRows{
    Row(TanhGrad{})
        .Inputs(kWithinOne, kAny)
        .EachElement([](double y, double dy) { return dy * (1 - y * y); })
        .Gradient(),
    Row(TanhGrad{}).Inputs(Uniform({2}), Uniform({3})).Fails(kBad, "[3]"),
    Row(TanhGrad{}).Inputs(Uniform({2}), Scalar(1.f)).Fails(kBad, "[]").Named("no_broadcast"),
    Row(SigmoidGrad{})
        .Inputs(kWithinOne, kAny)
        .EachElement([](double y, double dy) { return dy * y * (1 - y); })
        .Gradient(),
    Row(SqrtGrad{})
        .Inputs(kPositive, kAny)
        .EachElement([](double y, double dy) { return dy / (2 * y); })
        .Gradient(),
    Row(SqrtGrad{}).Inputs(Scalar(0.f), Scalar(0.f)).Expect(Scalar(0.f)).NoGradient(),
    Row(RsqrtGrad{})
        .Inputs(kPositive, kAny)
        .EachElement([](double y, double dy) { return -dy * y * y * y / 2; })
        .Gradient(),
    Row(ReciprocalGrad{})
        .Inputs(kPositive, kAny)
        .EachElement([](double y, double dy) { return -dy * y * y; })
        .Gradient(),
    Row(InvGrad{})
        .Inputs(kPositive, kAny)
        .EachElement([](double y, double dy) { return -dy * y * y; })
        .Gradient(),
};

}  // namespace
}  // namespace penstock::rows
