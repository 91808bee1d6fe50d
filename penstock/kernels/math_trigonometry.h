#pragma once

#include <cmath>
#include <cstdint>

#include "penstock/kernels/math_scalar.h"

// Sine and cosine for float. The angle is brought into [-pi/4, pi/4] in double, which is exact
// enough up to kMaxFastAngle; beyond it the library's slow reduction is needed, and loops must look
// for such angles first.
namespace penstock::math {

inline constexpr float kMaxFastAngle = 0x1p24f;
PENSTOCK_SCALAR bool IsFastAngle(float x) { return std::fabs(x) <= kMaxFastAngle; }

namespace internal {

// sin(x + quadrant pi/2). REQUIRES: |x| <= kMaxFastAngle, or NaN.
PENSTOCK_SCALAR float SinQuadrant(float x, uint32_t quadrant) {
  constexpr double kToInteger = 0x1.8p52;  // the sum's last bit is worth 1: adding it rounds
  constexpr double kHalfPiHigh =
      0x1.921fb54p0;  // few bits, so that a quotient of 25 times it is exact
  constexpr double kHalfPiLow = 0x1.10b4611a62633p-30;
  const double angle = x;
  const double shifted = angle * 0x1.45f306dc9c883p-1 + kToInteger;
  const double k = shifted - kToInteger;
  const float r = static_cast<float>((angle - k * kHalfPiHigh) - k * kHalfPiLow);
  const uint32_t turned = static_cast<uint32_t>(__builtin_bit_cast(uint64_t, shifted)) + quadrant;
  const float square = r * r;
  const float sine =
      r + r * square * Polynomial(square, -0x1.555546p-3f, 0x1.11073ap-7f, -0x1.994388p-13f);
  const float cosine =
      (1.0f - 0.5f * square) +
      square * square * Polynomial(square, 0x1.55554ap-5f, -0x1.6c0c32p-10f, 0x1.99eb4ap-16f);
  const float value = (turned & 1) != 0 ? cosine : sine;
  return (turned & 2) != 0 ? -value : value;
}

}  // namespace internal

// REQUIRES: IsFastAngle(x), or NaN.
PENSTOCK_SCALAR float FastSin(float x) {
  return x == 0.0f ? x : internal::SinQuadrant(x, 0);  // keeps the sign of zero
}
PENSTOCK_SCALAR float FastCos(float x) { return internal::SinQuadrant(x, 1); }

}  // namespace penstock::math
