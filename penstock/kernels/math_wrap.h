#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "penstock/core/scalar_function.h"

// Arithmetic that wraps for integers, where C++ leaves signed overflow undefined.
namespace penstock::math {

// Unsigned and at least as wide as int, so that nothing is promoted to a signed type.
template <std::integral T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

template <class T>
PENSTOCK_SCALAR T Add(T x, T y) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
  } else {
    return x + y;
  }
}
template <class T>
PENSTOCK_SCALAR T Sub(T x, T y) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) - static_cast<Wrapping<T>>(y));
  } else {
    return x - y;
  }
}
template <class T>
PENSTOCK_SCALAR T Mul(T x, T y) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
  } else {
    return x * y;
  }
}
template <class T>
PENSTOCK_SCALAR T Neg(T x) {
  if constexpr (std::integral<T>) {
    return Sub(T(0), x);
  } else {
    return -x;
  }
}

}  // namespace penstock::math
