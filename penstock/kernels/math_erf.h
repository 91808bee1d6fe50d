#pragma once

#include <cmath>

#include "penstock/kernels/math_exp.h"

namespace penstock::math {

// Near zero erf is a polynomial, odd in x; further out it is 1 - e^p(|x|), and 1 from 3.95 on.
PENSTOCK_SCALAR float Erf(float x) {
  const float square = x * x;
  const float near = x + x * Polynomial(square, 0x1.06eba6p-3f, -0x1.81270cp-2f, 0x1.ce211ep-4f,
                                        -0x1.b6f38ap-6f, 0x1.49c9fep-8f, -0x1.453aaep-11f);
  const float magnitude = std::fabs(x);
  const float clamped = magnitude > 3.95f ? 3.95f : magnitude;
  const float exponent =
      Polynomial(clamped, -0x1.18210ep-13f, -0x1.20c06cp0f, -0x1.46026cp-1f, -0x1.ab535p-4f,
                 0x1.6f5532p-6f, -0x1.955012p-9f, 0x1.a584f8p-13f);
  const internal::ExpParts parts = internal::SplitExp(exponent);
  const float power = internal::TwoTo(parts.exponent);
  const float far = (1.0f - power) - power * internal::Expm1Reduced(parts.r);
  return magnitude < 0.875f ? near : std::copysign(far, x);
}

}  // namespace penstock::math
