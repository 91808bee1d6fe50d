#pragma once

#include <limits>

#include "penstock/core/scalar_function.h"

namespace penstock::math {

// As constants, because device code may not call what std::numeric_limits consists of.
template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
template <class T>
inline constexpr T kSmallestNormal = std::numeric_limits<T>::min();

// c0 + c1 x + c2 x^2 + ...
template <class T>
PENSTOCK_SCALAR T Polynomial(T, T c0) {
  return c0;
}
template <class T, class... Rest>
PENSTOCK_SCALAR T Polynomial(T x, T c0, Rest... rest) {
  return c0 + x * Polynomial(x, rest...);
}

}  // namespace penstock::math
