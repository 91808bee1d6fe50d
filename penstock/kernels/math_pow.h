#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "penstock/kernels/math_scalar.h"

// x^y for float as 2^(y log2 |x|), in double: what rounds there is far below a float's last place,
// and subnormal floats need no care.
namespace penstock::math {
namespace internal {

constexpr double kToInteger = 0x1.8p52;  // the sum's last bit is worth 1: adding it rounds

// log2(a) to a relative 2^-40. REQUIRES: a is positive, finite and not a subnormal double.
PENSTOCK_SCALAR double Log2(double a) {
  constexpr int64_t kRootHalf = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1/2)
  constexpr int64_t kBias = 1024;
  const int64_t bits = __builtin_bit_cast(int64_t, a);
  // a = 2^e m with m from sqrt(1/2) to sqrt(2). Biased, the shift needs no sign.
  const int64_t biased =
      static_cast<int64_t>(static_cast<uint64_t>(bits - kRootHalf + (kBias << 52)) >> 52);
  const double m = __builtin_bit_cast(double, bits - ((biased - kBias) << 52));
  const double e = __builtin_bit_cast(double, biased + __builtin_bit_cast(int64_t, kToInteger)) -
                   (kToInteger + static_cast<double>(kBias));
  const double f = (m - 1) / (m + 1);
  // 2 atanh(f) / ln 2.
  const double q = Polynomial(f * f, 0x1.71547652b82fep1, 0x1.ec709dc3a03fdp-1,
                              0x1.2776c50ef9bfep-1, 0x1.a61762a7aded9p-2, 0x1.484b13d7c02a9p-2,
                              0x1.0c9a84994022dp-2, 0x1.c68f568d3176p-3);
  return e + f * q;
}

// 2^t. REQUIRES: -1022 < t < 1023, or NaN.
PENSTOCK_SCALAR double Exp2(double t) {
  const double shifted = t + kToInteger;
  const int64_t k = __builtin_bit_cast(int64_t, shifted) - __builtin_bit_cast(int64_t, kToInteger);
  const double r = (t - (shifted - kToInteger)) * 0x1.62e42fefa39efp-1;
  const double power = Polynomial(r, 1.0, 1.0, 0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720,
                                  1.0 / 5040, 1.0 / 40320);
  return power * __builtin_bit_cast(double, (k + 1023) << 52);
}

}  // namespace internal

PENSTOCK_SCALAR float Pow(float x, float y) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float a = std::fabs(x);
  double log = internal::Log2(static_cast<double>(a));
  log = a == 0.0f ? -std::numeric_limits<double>::infinity() : log;
  log = a == kInfinity ? std::numeric_limits<double>::infinity() : log;
  double t = static_cast<double>(y) * log;
  // Beyond, a float is 0 or infinite. NaN stays.
  t = t > 200.0 ? 200.0 : t;
  t = t < -200.0 ? -200.0 : t;
  float power = static_cast<float>(internal::Exp2(t));
  power = a == 1.0f ? 1.0f : power;  // also to infinity
  const float half = 0.5f * y;
  const bool is_whole = std::trunc(y) == y;
  const bool is_odd = is_whole && std::trunc(half) != half;
  power = std::signbit(x) && is_odd ? -power : power;
  power =
      x < 0.0f && x != -kInfinity && !is_whole ? std::numeric_limits<float>::quiet_NaN() : power;
  power = x != x || y != y ? x + y : power;
  return x == 1.0f || y == 0.0f ? 1.0f : power;
}

}  // namespace penstock::math
