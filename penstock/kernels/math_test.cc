#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/math_test.cc"
#include "penstock/kernels/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/kernels/elementwise-inl.h"
#include "penstock/kernels/math.h"

// Name here, the same function in double.
// clang-format off
#define PENSTOCK_MATH_TESTED(X)                                                                   \
  X(Exp, std::exp) X(Expm1, std::expm1) X(Sigmoid, math::Sigmoid) X(Tanh, std::tanh)              \
  X(Cosh, std::cosh) X(Sinh, std::sinh) X(Log, std::log) X(Log1p, std::log1p)                     \
  X(Atanh, std::atanh) X(Erf, std::erf) X(Erfc, std::erfc) X(Sin, std::sin)                       \
  X(Cos, std::cos) X(Tan, std::tan) X(Asin, std::asin) X(Acos, std::acos)                         \
  X(Atan, std::atan) X(Asinh, std::asinh) X(Acosh, std::acosh) X(Sqrt, std::sqrt)                 \
  X(Floor, std::floor) X(Ceil, std::ceil) X(Rint, std::nearbyint) X(Trunc, std::trunc)
// clang-format on

#ifndef PENSTOCK_KERNELS_MATH_TEST_OPS_
#define PENSTOCK_KERNELS_MATH_TEST_OPS_
namespace penstock::kernels {
#define X(Name, reference)               \
  struct Name##Op {                      \
    template <class V>                   \
    PENSTOCK_SCALAR static V Eval(V x) { \
      return math::Name(x);              \
    }                                    \
  };
PENSTOCK_MATH_TESTED(X)
#undef X
struct BigSinOp {
  PENSTOCK_SCALAR static float Eval(float x) { return math::FastSin(x); }
  PENSTOCK_SCALAR static bool IsHard(float x) { return !math::IsFastAngle(x); }
  PENSTOCK_SCALAR static float EvalHard(float x) { return math::Sin(x); }
};
}  // namespace penstock::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
const BlockFn* MathBlocks() {
#define X(Name, reference) &Block<Name##Op, float, float>,
  static constexpr BlockFn kBlocks[] = {PENSTOCK_MATH_TESTED(X) & Block<BigSinOp, float, float>};
#undef X
  return kBlocks;
}
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace penstock::kernels {
HWY_EXPORT(MathBlocks);

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Tested {
  const char* name;
  double (*reference)(double);
};
#define X(Name, reference) {#Name, [](double x) -> double { return reference(x); }},
constexpr Tested kTested[] = {
    PENSTOCK_MATH_TESTED(X){"BigSin", [](double x) { return std::sin(x); }}};
#undef X

// How far `got` is from `want`, in units of the last place of a float at `want`.
double UlpError(float got, double want) {
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) == std::isnan(got) ? 0 : kInfinity;
  const float rounded = static_cast<float>(want);
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : kInfinity;
  if (rounded == 0 && got == 0 && std::signbit(want) != std::signbit(got)) return kInfinity;
  int exponent;
  std::frexp(want, &exponent);
  return std::fabs(got - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

// Every `stride`th float of all 2^32, and those where functions change their ways.
std::vector<float> Arguments(uint64_t stride) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += stride) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (float edge :
       {0.0f, 0x1p-149f, 0x1p-127f, 0x1p-126f, 0x1p-30f, 0.625f, 0.875f, 1.0f, 3.95f, 10.0f,
        88.72283f, 89.41599f, 103.97f, 104.0f, 0x1p24f, 0x1.555556p-1f, kInfinity}) {
    for (float sign : {1.0f, -1.0f}) {
      x.push_back(sign * std::nextafter(edge, -kInfinity));
      x.push_back(sign * edge);
      x.push_back(sign * std::nextafter(edge, kInfinity));
    }
  }
  x.push_back(kNan);
  return x;
}

TEST(Math, FloatIsWithinTwoUlpOnEveryTarget) {
  const std::vector<float> x = Arguments(20011);
  const void* inputs[] = {x.data()};
  std::vector<float> y(x.size());
  for (int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    const BlockFn* blocks = HWY_DYNAMIC_DISPATCH(MathBlocks)();
    for (size_t f = 0; f < std::size(kTested); ++f) {
      blocks[f](inputs, 0, y.data(), static_cast<int64_t>(x.size()));
      double worst = 0, sum = 0;
      float worst_x = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double error = UlpError(y[i], kTested[f].reference(x[i]));
        sum += error;
        if (error > worst) worst = error, worst_x = x[i];
      }
      EXPECT_LE(worst, 2.0) << kTested[f].name << " on " << hwy::TargetName(rest & -rest) << " at "
                            << std::hexfloat << worst_x;
      EXPECT_LE(sum / static_cast<double>(x.size()), 0.25) << kTested[f].name;
    }
    hwy::SetSupportedTargetsForTest(0);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// What an element becomes must not hang on its place in a run, or on the run's length.
TEST(Math, FloatDoesNotDependOnTheRun) {
  const std::vector<float> x = Arguments(2'000'003);
  const int64_t n = static_cast<int64_t>(x.size());
  const BlockFn* blocks = HWY_DYNAMIC_DISPATCH(MathBlocks)();
  std::vector<float> whole(n), parts(n);
  for (size_t f = 0; f < std::size(kTested); ++f) {
    const void* inputs[] = {x.data()};
    blocks[f](inputs, 0, whole.data(), n);
    for (int64_t begin = 0, length = 1; begin < n; begin += length, length = begin % 37 + 1) {
      inputs[0] = &x[begin];
      blocks[f](inputs, 0, &parts[begin], std::min(length, n - begin));
    }
    for (int64_t i = 0; i < n; ++i) {
      const bool both_nan = std::isnan(whole[i]) && std::isnan(parts[i]);
      ASSERT_TRUE(both_nan || whole[i] == parts[i]) << kTested[f].name << " at " << x[i];
    }
  }
}

TEST(Math, PowIsWithinTwoUlp) {
  std::vector<float> x = Arguments(30'000'001), y = Arguments(60'000'007);
  for (float v : {0.0f, 0.5f, 1.0f, 2.0f, 3.0f, 10.0f, 1.0f / 3, 0x1.000002p0f, 0x1.fffffep-1f}) {
    for (const float sign : {1.0f, -1.0f}) {
      x.push_back(sign * v);
      y.push_back(sign * v);
    }
  }
  for (const float a : x) {
    for (const float b : y) {
      const double want = std::pow(static_cast<double>(a), static_cast<double>(b));
      ASSERT_LE(UlpError(math::Pow(a, b), want), 2.0) << std::hexfloat << a << " to the " << b;
    }
  }
}

TEST(Math, HalvesRoundToEven) {
  EXPECT_EQ(math::Rint(0.5f), 0.0f);
  EXPECT_EQ(math::Rint(1.5), 2.0);
  EXPECT_EQ(math::Round(-2.5f), -2.0f);
  EXPECT_EQ(math::Round(7), 7);
  EXPECT_EQ(float(math::Round(half(3.5f))), 4.0f);
}

TEST(Math, MinAndMaxGiveNanForNan) {
  for (float other : {1.0f, -kInfinity, kInfinity, kNan}) {
    EXPECT_TRUE(std::isnan(math::Min(other, kNan)) && std::isnan(math::Min(kNan, other)));
    EXPECT_TRUE(std::isnan(math::Max(other, kNan)) && std::isnan(math::Max(kNan, other)));
  }
  EXPECT_EQ(math::Min(1.0f, 2.0f), 1.0f);
  EXPECT_EQ(math::Max(1.0, 2.0), 2.0);
  EXPECT_EQ(math::Max(int8_t{-3}, int8_t{-7}), -3);
  EXPECT_EQ(float(math::Max(bfloat16(1), bfloat16(2))), 2.0f);
}

TEST(Math, SignAndAbs) {
  EXPECT_EQ(math::Sign(-3.0f), -1.0f);
  EXPECT_EQ(math::Sign(0.0f), 0.0f);
  EXPECT_TRUE(std::isnan(math::Sign(kNan)));
  EXPECT_EQ(math::Sign(uint8_t{200}), 1);
  EXPECT_EQ(math::Sign(int64_t{-5}), -1);
  EXPECT_EQ(math::Sign(std::complex<float>(3, -4)), std::complex<float>(0.6f, -0.8f));
  EXPECT_EQ(math::Abs(std::numeric_limits<int32_t>::min()), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(math::Abs(int8_t{-128}), -128);
  EXPECT_EQ(math::Abs(std::complex<double>(3, -4)), 5.0);
}

template <class T>
void CheckDivision(T x, T y) {
  const T div = math::FloorDiv(x, y), mod = math::FloorMod(x, y);
  EXPECT_EQ(static_cast<T>(div * y + mod), x) << +x << " by " << +y;
  EXPECT_TRUE(mod == 0 || (mod < 0) == (y < 0)) << +x << " by " << +y;
  EXPECT_EQ(static_cast<T>(math::TruncDiv(x, y) * y + math::TruncMod(x, y)), x);
  EXPECT_TRUE(math::TruncMod(x, y) == 0 || (math::TruncMod(x, y) < 0) == (x < 0));
}

TEST(Math, DivisionAgreesWithRemainder) {
  for (int x = -9; x <= 9; ++x) {
    for (int y = -4; y <= 4; ++y) {
      if (y == 0) continue;
      CheckDivision(x, y);
      CheckDivision(static_cast<int8_t>(x), static_cast<int8_t>(y));
      CheckDivision(static_cast<int64_t>(x), static_cast<int64_t>(y));
      CheckDivision(static_cast<double>(x), static_cast<double>(y));
      CheckDivision(static_cast<uint16_t>(x + 9), static_cast<uint16_t>(y + 5));
    }
  }
  EXPECT_EQ(float(math::FloorDiv(half(-7), half(2))), -4.0f);
  EXPECT_EQ(float(math::FloorMod(half(-7), half(2))), 1.0f);
  EXPECT_EQ(math::FloorDiv(1.0f, -3.4e38f), 0.0f);  // as TensorFlow: the subnormal is flushed
  EXPECT_EQ(math::FloorDiv(1.0f, -2.0f), -1.0f);
}

TEST(Math, IntegerDivisionNeverTraps) {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(math::TruncDiv(kLowest, int64_t{-1}), kLowest);
  EXPECT_EQ(math::FloorDiv(kLowest, int64_t{-1}), kLowest);
  EXPECT_EQ(math::TruncMod(kLowest, int64_t{-1}), 0);
  EXPECT_EQ(math::FloorMod(kLowest, int64_t{-1}), 0);
  EXPECT_EQ(math::FloorDiv(7, 0), 0);
  EXPECT_EQ(math::TruncDiv(7u, 0u), 0u);
  math::FloorMod(7, 0);
}

TEST(Math, Powers) {
  EXPECT_EQ(math::Pow(2.0f, 0.5f), std::sqrt(2.0f));
  EXPECT_EQ(math::Pow(-3, 3), -27);
  EXPECT_EQ(math::Pow(int64_t{3}, int64_t{40}), static_cast<int64_t>(12157665459056928801u));
  EXPECT_EQ(math::Pow(int8_t{2}, int8_t{8}), 0);
  EXPECT_EQ(math::Pow(uint16_t{65535}, uint16_t{2}), 1);
  EXPECT_EQ(math::Rsqrt(4.0), 0.5);
  EXPECT_EQ(math::Rsqrt(-0.0f), -kInfinity);
}

TEST(Math, ComplexFormsTheLibraryLacks) {
  const std::complex<double> z(1e-9, 2e-9);
  EXPECT_LT(std::abs(math::Expm1(z) - (z + z * z / 2.0)), 1e-24);
  EXPECT_LT(std::abs(math::Log1p(z) - (z - z * z / 2.0)), 1e-24);
  const std::complex<double> w(0.3, -1.2);
  EXPECT_LT(std::abs(math::Expm1(w) - (std::exp(w) - 1.0)), 1e-15);
  EXPECT_LT(std::abs(math::Log1p(w) - std::log(1.0 + w)), 1e-15);
  EXPECT_LT(std::abs(math::Sigmoid(w) - 1.0 / (1.0 + std::exp(-w))), 1e-15);
}

TEST(Math, SixteenBitTypesGoThroughFloat) {
  EXPECT_EQ(math::Exp(half(1)).bits, half(std::exp(1.0f)).bits);
  EXPECT_EQ(math::Tanh(bfloat16(0.5f)).bits, bfloat16(std::tanh(0.5f)).bits);
  EXPECT_EQ(float(math::Select(true, half(1), half(2))), 1.0f);
  EXPECT_EQ(math::Select(false, 1.0, 2.0), 2.0);
  EXPECT_EQ(math::Select(true, int8_t{-1}, int8_t{2}), -1);
}

}  // namespace
}  // namespace penstock::kernels
#endif
