#pragma once

#include <cmath>
#include <cstdint>

#include "penstock/kernels/math_scalar.h"

// The exponential family for float. All of it stands on x = k ln 2 + r with whole k and |r| <= ln 2
// / 2.
namespace penstock::math {
namespace internal {

struct ExpParts {
  float k;
  int32_t exponent;  // k as an integer
  float r;
};

// REQUIRES: |x| < 2^13, or NaN (which r then carries).
PENSTOCK_SCALAR ExpParts SplitExp(float x) {
  constexpr float kToInteger = 0x1.8p23f;  // the sum's last bit is worth 1: adding it rounds
  constexpr float kLog2E = 0x1.715476p0f;
  constexpr float kLn2High = 0x1.62e4p-1f;  // few bits, so that k times it is exact
  constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  const float shifted = x * kLog2E + kToInteger;
  const float k = shifted - kToInteger;
  const int32_t exponent =
      __builtin_bit_cast(int32_t, shifted) - __builtin_bit_cast(int32_t, kToInteger);
  return {k, exponent, (x - k * kLn2High) - k * kLn2Low};
}

// 2^e. REQUIRES: -127 < e < 128.
PENSTOCK_SCALAR float TwoTo(int32_t e) { return __builtin_bit_cast(float, (e + 127) << 23); }

// e^r - 1 for |r| <= ln 2 / 2, to a relative 2^-28.
PENSTOCK_SCALAR float Expm1Reduced(float r) {
  const float q = Polynomial(r, 0.5f, 0x1.555554p-3f, 0x1.5554b2p-5f, 0x1.11118ap-7f,
                             0x1.6d71f8p-10f, 0x1.a032cp-13f);
  return r + (r * r) * q;
}

// e^x 2^scale. Two factors reach into the subnormals and over to infinity, rounding once.
PENSTOCK_SCALAR float ScaledExp(float x, int32_t scale) {
  float clamped = x > 91.0f ? 91.0f : x;
  clamped = clamped < -105.0f ? -105.0f : clamped;
  const ExpParts parts = SplitExp(clamped);
  const float q = Polynomial(parts.r, 0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f,
                             0x1.1239e2p-7f, 0x1.6a2434p-10f);
  const float power = 1.0f + (parts.r + (parts.r * parts.r) * q);
  const int32_t exponent = parts.exponent + scale;
  const int32_t half = exponent >> 1;
  return power * TwoTo(half) * TwoTo(exponent - half);
}

}  // namespace internal

PENSTOCK_SCALAR float Exp(float x) { return internal::ScaledExp(x, 0); }

PENSTOCK_SCALAR float Expm1(float x) {
  float clamped = x > 89.0f ? 89.0f : x;
  clamped = clamped < -30.0f ? -30.0f : clamped;
  const internal::ExpParts parts = internal::SplitExp(clamped);
  const float p = internal::Expm1Reduced(parts.r);
  // Half the result, because 2^128 is not a float.
  const float half_power = internal::TwoTo(parts.exponent - 1);
  const float result = 2.0f * (half_power * p + (half_power - 0.5f));
  return std::fabs(x) < 0x1p-30f ? x : result;  // halving would round a subnormal
}

// With e = e^-|x| it is 1 / (1 + e) on the right and e / (1 + e) on the left, corrected for what
// the sum loses.
PENSTOCK_SCALAR float Sigmoid(float x) {
  const float e = Exp(-std::fabs(x));
  const float sum = 1.0f + e;
  const float lost = e - (sum - 1.0f);
  const float quotient = (x < 0.0f ? e : 1.0f) / sum;
  const float reciprocal = x < 0.0f ? 1.0f - quotient : quotient;
  return quotient - quotient * (lost * reciprocal);
}

// Near zero tanh is an odd polynomial; further out it is 1 - 2e / (1 + e) with e = e^(-2|x|), and 1
// from 10 on.
PENSTOCK_SCALAR float Tanh(float x) {
  const float a = std::fabs(x);
  const float square = a * a;
  const float near = a + a * square *
                             Polynomial(square, -0x1.555532p-2f, 0x1.110726p-3f, -0x1.b83c5ap-5f,
                                        0x1.52269cp-6f, -0x1.75e1cep-8f);
  const internal::ExpParts parts = internal::SplitExp(-2.0f * (a > 10.0f ? 10.0f : a));
  const float power = internal::TwoTo(parts.exponent);
  const float e = power + power * internal::Expm1Reduced(parts.r);
  const float far = 1.0f - (e + e) / (1.0f + e);
  return std::copysign(a < 0.625f ? near : far, x);
}

PENSTOCK_SCALAR float Cosh(float x) {
  const float half_exp = internal::ScaledExp(std::fabs(x), -1);
  return half_exp + 0.25f / half_exp;
}

PENSTOCK_SCALAR float Sinh(float x) {
  const float magnitude = std::fabs(x);
  const float half_exp = internal::ScaledExp(magnitude, -1);
  const float square = x * x;
  const float small =
      x + x * square *
              Polynomial(square, 0x1.555556p-3f, 0x1.111134p-7f, 0x1.9ffe92p-13f, 0x1.7a15b6p-19f);
  return magnitude < 1.0f ? small : std::copysign(half_exp - 0.25f / half_exp, x);
}

}  // namespace penstock::math
