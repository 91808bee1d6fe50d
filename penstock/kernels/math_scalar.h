#pragma once

#include "penstock/core/scalar_function.h"

namespace penstock::math {

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
