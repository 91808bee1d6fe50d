#pragma once

#include <cmath>
#include <cstdint>

#include "penstock/kernels/math_scalar.h"

// The logarithms for float. Both stand on x = 2^k (1 + f) with whole k and |f| <= 1/3.
namespace penstock::math {
namespace internal {

// k ln 2 + log(1 + f) for |f| <= 1/3, to a relative 2^-27.
PENSTOCK_SCALAR float AssembleLog(float k, float f) {
  constexpr float kLn2High = 0x1.62e4p-1f;  // few bits, so that k times it is exact
  constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  const float square = f * f;
  const float q = Polynomial(f, 0x1.555506p-2f, -0x1.fffefp-3f, 0x1.99d028p-3f, -0x1.559dccp-3f,
                             0x1.1ed718p-3f, -0x1.f3113ap-4f, 0x1.1e66bap-3f, -0x1.080594p-3f);
  return k * kLn2High + (f + (square * (f * q - 0.5f) + k * kLn2Low));
}

// The exponent k that brings the float with these bits, divided by 2^k, into [2/3, 4/3).
PENSTOCK_SCALAR int32_t LogExponent(uint32_t bits) {
  constexpr uint32_t kTwoThirds = 0x3f2aaaab;
  return static_cast<int32_t>(bits - kTwoThirds) >> 23;
}

// That float, divided by 2^exponent.
PENSTOCK_SCALAR float LogFraction(uint32_t bits, int32_t exponent) {
  return __builtin_bit_cast(float, bits - (static_cast<uint32_t>(exponent) << 23));
}

// `finite` where 0 < argument < infinity, and what a logarithm is elsewhere.
PENSTOCK_SCALAR float LogAtEdges(float argument, float finite) {
  float result =
      argument < kInfinity<float> ? finite : argument;  // infinity and NaN are themselves
  result = argument == 0.0f ? -kInfinity<float> : result;
  return argument < 0.0f ? kNan<float> : result;
}

}  // namespace internal

PENSTOCK_SCALAR float Log(float x) {
  const bool subnormal = x < kSmallestNormal<float>;
  const float normal = subnormal ? x * 0x1p23f : x;
  const uint32_t bits = __builtin_bit_cast(uint32_t, normal);
  const int32_t exponent = internal::LogExponent(bits);
  const float f = internal::LogFraction(bits, exponent) - 1.0f;
  const float k = static_cast<float>(exponent) - (subnormal ? 23.0f : 0.0f);
  return internal::LogAtEdges(x, internal::AssembleLog(k, f));
}

PENSTOCK_SCALAR float Log1p(float x) {
  const float sum = 1.0f + x;
  // What the addition rounded away, exactly.
  const float x_in_sum = sum - 1.0f;
  const float lost = (1.0f - (sum - x_in_sum)) + (x - x_in_sum);
  const uint32_t bits = __builtin_bit_cast(uint32_t, sum);
  const int32_t exponent = internal::LogExponent(bits);
  // 2^-exponent, or 0 where there is no such float and `lost` is nothing.
  const float scale = __builtin_bit_cast(float, (127 - (exponent > 127 ? 127 : exponent)) << 23);
  const float f = (internal::LogFraction(bits, exponent) - 1.0f) + lost * scale;
  const float result =
      internal::LogAtEdges(sum, internal::AssembleLog(static_cast<float>(exponent), f));
  return x == 0.0f ? x : result;  // keeps the sign
}

// atanh a = log1p(2a / (1 - a)) / 2, where the fraction is 2a + 2a^2 / (1 - a): its rounding weighs
// less.
PENSTOCK_SCALAR float Atanh(float x) {
  const float a = std::fabs(x);
  const float twice = a + a;
  const float argument = twice + twice * a / (1.0f - a);
  const float result = std::copysign(0.5f * Log1p(argument), x);
  return a > 1.0f ? kNan<float> : result;
}

}  // namespace penstock::math
