#pragma once

#include <cmath>
#include <concepts>
#include <type_traits>

#include "penstock/core/float16.h"
#include "penstock/kernels/math_scalar.h"

// Division and remainder, rounded down (Floor) or toward zero (Trunc). Integer forms never trap: by
// 0 they give 0 (it is for the caller to refuse it first), and the lowest value by -1 wraps around.
namespace penstock::math {
namespace internal {

// A divisor that hardware can divide any x by.
template <std::integral T>
PENSTOCK_SCALAR T SafeDivisor(T y) {
  if constexpr (std::is_signed_v<T>) {
    return y == 0 || y == T(-1) ? T(1) : y;
  } else {
    return y == 0 ? T(1) : y;
  }
}

template <std::integral T>
PENSTOCK_SCALAR T WrappingNegate(T x) {
  using Unsigned = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Unsigned>(Unsigned(0) - static_cast<Unsigned>(x)));
}

}  // namespace internal

template <std::integral T>
PENSTOCK_SCALAR T TruncDiv(T x, T y) {
  const T quotient = static_cast<T>(x / internal::SafeDivisor(y));
  if constexpr (std::is_signed_v<T>) {
    return y == 0 ? T(0) : y == T(-1) ? internal::WrappingNegate(x) : quotient;
  } else {
    return y == 0 ? T(0) : quotient;
  }
}

template <std::integral T>
PENSTOCK_SCALAR T TruncMod(T x, T y) {
  return static_cast<T>(x % internal::SafeDivisor(y));
}

template <std::integral T>
PENSTOCK_SCALAR T FloorMod(T x, T y) {
  const T rest = TruncMod(x, y);
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
  } else {
    return rest;
  }
}

template <std::integral T>
PENSTOCK_SCALAR T FloorDiv(T x, T y) {
  const T quotient = TruncDiv(x, y);
  if constexpr (std::is_signed_v<T>) {
    const T rest = TruncMod(x, y);
    return static_cast<T>(rest != 0 && (rest < 0) != (y < 0) ? quotient - 1 : quotient);
  } else {
    return quotient;
  }
}

template <std::floating_point T>
PENSTOCK_SCALAR T TruncDiv(T x, T y) {
  return std::trunc(x / y);
}

template <std::floating_point T>
PENSTOCK_SCALAR T TruncMod(T x, T y) {
  return std::fmod(x, y);
}

// TensorFlow computes with subnormals flushed to zero, and here alone it shows: the floor of a tiny
// negative quotient is then -0 and not -1.
template <std::floating_point T>
PENSTOCK_SCALAR T FloorDiv(T x, T y) {
  const T quotient = x / y;
  return std::fabs(quotient) < kSmallestNormal<T> ? std::copysign(T(0), quotient)
                                                  : std::floor(quotient);
}

template <std::floating_point T>
PENSTOCK_SCALAR T FloorMod(T x, T y) {
  const T rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

#define PENSTOCK_MATH_THROUGH_FLOAT(Name) \
  template <class T>                      \
  requires kIsFloat16<T> PENSTOCK_SCALAR T Name(T x, T y) { return T(Name(float(x), float(y))); }
PENSTOCK_MATH_THROUGH_FLOAT(TruncDiv)
PENSTOCK_MATH_THROUGH_FLOAT(TruncMod)
PENSTOCK_MATH_THROUGH_FLOAT(FloorDiv)
PENSTOCK_MATH_THROUGH_FLOAT(FloorMod)
#undef PENSTOCK_MATH_THROUGH_FLOAT

}  // namespace penstock::math
