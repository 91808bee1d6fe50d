#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "penstock/core/float16.h"
#include "penstock/core/scalar_function.h"

// Functions that pick, flip or round a value and are exact in every type.
namespace penstock::math {

template <size_t bytes>
using WordOf = std::conditional_t<
    bytes == 1, uint8_t,
    std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

// `condition ? x : y` in a form that loops over loaded values can vectorise: a plain conditional
// becomes a conditional load.
template <class T>
PENSTOCK_SCALAR T Select(bool condition, T x, T y) {
  if constexpr (std::is_same_v<T, bool>) {
    return (condition & x) | (!condition & y);
  } else if constexpr (sizeof(T) <= 8) {
    using Word = WordOf<sizeof(T)>;
    const Word mask = static_cast<Word>(Word(0) - static_cast<Word>(condition));
    const Word x_bits = __builtin_bit_cast(Word, x), y_bits = __builtin_bit_cast(Word, y);
    return __builtin_bit_cast(T, static_cast<Word>((x_bits & mask) | (y_bits & ~mask)));
  } else {
    return condition ? x : y;
  }
}

// Of two values, the lesser or greater; NaN if either is.
template <class T>
requires std::is_arithmetic_v<T> PENSTOCK_SCALAR T Min(T x, T y) {
  const T least = x < y ? x : y;
  if constexpr (std::is_floating_point_v<T>) return x != x ? x : least;
  return least;
}
template <class T>
requires std::is_arithmetic_v<T> PENSTOCK_SCALAR T Max(T x, T y) {
  const T greatest = x > y ? x : y;
  if constexpr (std::is_floating_point_v<T>) return x != x ? x : greatest;
  return greatest;
}

// The lowest signed integer stays itself.
template <class T>
requires std::is_arithmetic_v<T> PENSTOCK_SCALAR T Abs(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x);
  } else if constexpr (std::is_signed_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(x < 0 ? static_cast<Unsigned>(Unsigned(0) - static_cast<Unsigned>(x))
                                : static_cast<Unsigned>(x));
  } else {
    return x;
  }
}
template <class T>
PENSTOCK_SCALAR T Abs(const std::complex<T>& x) {
  return std::abs(x);
}

// -1, 0 or 1; zeros and NaN are themselves.
template <class T>
requires std::is_arithmetic_v<T> PENSTOCK_SCALAR T Sign(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x > 0 ? T(1) : x < 0 ? T(-1) : x;
  } else {
    return static_cast<T>((x > 0) - (x < 0));
  }
}
// x / |x|, and 0 at 0.
template <class T>
PENSTOCK_SCALAR std::complex<T> Sign(const std::complex<T>& x) {
  const T magnitude = std::abs(x);
  return magnitude == 0 ? std::complex<T>(0) : x / magnitude;
}

// Round and Rint are the same: halves go to the even neighbour.
#define PENSTOCK_MATH_ROUNDING(Name, function)                   \
  template <class T>                                             \
  requires std::is_arithmetic_v<T> PENSTOCK_SCALAR T Name(T x) { \
    if constexpr (std::is_floating_point_v<T>) {                 \
      return std::function(x);                                   \
    } else {                                                     \
      return x;                                                  \
    }                                                            \
  }
PENSTOCK_MATH_ROUNDING(Floor, floor)
PENSTOCK_MATH_ROUNDING(Ceil, ceil)
PENSTOCK_MATH_ROUNDING(Trunc, trunc)
PENSTOCK_MATH_ROUNDING(Rint, nearbyint)
PENSTOCK_MATH_ROUNDING(Round, nearbyint)
#undef PENSTOCK_MATH_ROUNDING

#define PENSTOCK_MATH_THROUGH_FLOAT(Name) \
  template <class T>                      \
  requires kIsFloat16<T> PENSTOCK_SCALAR T Name(T x) { return T(Name(float(x))); }
PENSTOCK_MATH_THROUGH_FLOAT(Abs)
PENSTOCK_MATH_THROUGH_FLOAT(Sign)
PENSTOCK_MATH_THROUGH_FLOAT(Floor)
PENSTOCK_MATH_THROUGH_FLOAT(Ceil)
PENSTOCK_MATH_THROUGH_FLOAT(Trunc)
PENSTOCK_MATH_THROUGH_FLOAT(Rint)
PENSTOCK_MATH_THROUGH_FLOAT(Round)
#undef PENSTOCK_MATH_THROUGH_FLOAT

template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR T Min(T x, T y) { return T(Min(float(x), float(y))); }
template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR T Max(T x, T y) { return T(Max(float(x), float(y))); }

}  // namespace penstock::math
