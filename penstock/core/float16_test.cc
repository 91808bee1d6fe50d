#include "penstock/core/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace penstock {
namespace {

// A 16-bit format as its definition reads, computed in double.
struct Format {
  int exponent_bits;
  int fraction_bits;

  double Value(uint16_t bits) const {
    const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    double magnitude;
    if (exponent == (1 << exponent_bits) - 1) {
      magnitude = fraction == 0 ? INFINITY : NAN;
    } else if (exponent == 0) {
      magnitude = std::ldexp(fraction, 1 - bias - fraction_bits);
    } else {
      magnitude = std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
    }
    return bits >> 15 ? -magnitude : magnitude;
  }
};
constexpr Format kHalf{5, 10};
constexpr Format kBfloat16{8, 7};

template <class T>
void CheckWidening(Format format) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = T::FromBits(bits);
    const double expected = format.Value(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(float(T(value)))) << bits;
      ASSERT_EQ(std::signbit(value), bits >> 15 == 1) << bits;
    } else {
      ASSERT_EQ(value, expected) << bits;
      ASSERT_EQ(std::signbit(value), std::signbit(expected)) << bits;
      ASSERT_EQ(T(value).bits, bits);
    }
  }
}

// Checks every pair of neighbours a < b: what lies below the middle rounds to a, above to b, the
// middle to the even.
template <class T>
void CheckRounding(Format format, uint16_t infinity) {
  for (uint32_t bits = 0; bits < infinity; ++bits) {
    const double a = format.Value(bits);
    // Beyond the largest value the format would go on by the same step.
    const double b = bits + 1 == infinity ? 2 * a - format.Value(bits - 1) : format.Value(bits + 1);
    const float middle = static_cast<float>((a + b) / 2);
    ASSERT_EQ(middle, (a + b) / 2);
    const uint16_t even = bits & 1 ? bits + 1 : bits;
    for (uint16_t sign : {0, 0x8000}) {
      const float direction = sign ? -1.0f : 1.0f;
      ASSERT_EQ(T(direction * middle).bits, even | sign) << bits;
      ASSERT_EQ(T(direction * std::nextafter(middle, 0.0f)).bits, bits | sign) << bits;
      ASSERT_EQ(T(direction * std::nextafter(middle, INFINITY)).bits, (bits + 1) | sign) << bits;
      ASSERT_EQ(T(direction * std::nextafter(static_cast<float>(a), INFINITY)).bits, bits | sign)
          << bits;
    }
  }
}

TEST(Float16, HalfWidensExactly) { CheckWidening<half>(kHalf); }
TEST(Float16, Bfloat16WidensExactly) { CheckWidening<bfloat16>(kBfloat16); }
TEST(Float16, HalfRoundsToNearestEven) { CheckRounding<half>(kHalf, 0x7c00); }
TEST(Float16, Bfloat16RoundsToNearestEven) { CheckRounding<bfloat16>(kBfloat16, 0x7f80); }

template <class T>
class Float16Test : public ::testing::Test {};
using Types = ::testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(Float16Test, Types);

TYPED_TEST(Float16Test, Extremes) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  EXPECT_EQ(T(std::numeric_limits<float>::max()).bits, Limits::infinity().bits);
  EXPECT_EQ(T(INFINITY).bits, Limits::infinity().bits);
  EXPECT_EQ(T(-INFINITY).bits, (-Limits::infinity()).bits);
  EXPECT_EQ(T(-0.0f).bits, 0x8000);
  EXPECT_EQ(T(std::numeric_limits<float>::denorm_min()).bits, 0);
  // A NaN whose payload sits in the bits that are cut off must not become infinity.
  const uint32_t low_payload = 0x7f800001;
  float nan;
  std::memcpy(&nan, &low_payload, sizeof nan);
  EXPECT_TRUE(std::isnan(float(T(nan))));
  EXPECT_EQ(float(Limits::lowest()), -float(Limits::max()));
  EXPECT_EQ(float(Limits::epsilon()), std::ldexp(1.0f, 1 - Limits::digits));
  EXPECT_EQ(float(Limits::min()), std::ldexp(1.0f, Limits::min_exponent - 1));
}

TYPED_TEST(Float16Test, Arithmetic) {
  using T = TypeParam;
  static_assert(sizeof(T) == 2 && std::is_trivially_copyable_v<T> &&
                std::is_trivially_default_constructible_v<T>);
  constexpr T three(3), two(2.0);
  static_assert(float(three * two - T(1)) == 5);
  EXPECT_EQ(float(three / two), 1.5f);
  EXPECT_EQ(float(-three), -3.0f);
  EXPECT_LT(two, three);
  EXPECT_TRUE(two == 2 && two != three && three >= two);
  T sum(1.0f);
  sum += three;
  sum *= two;
  EXPECT_EQ(float(sum), 8.0f);
}

}  // namespace
}  // namespace penstock
