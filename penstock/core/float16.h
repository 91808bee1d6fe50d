#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "penstock/core/scalar_function.h"

namespace penstock {

// The two 16-bit floating-point types. Both are storage: arithmetic widens to float and rounds the
// result once, to nearest, ties to even. The conversions are integer code without branches, so that
// loops over them are vectorised.

// IEEE 754 binary16: 5 bits of exponent, 10 of fraction.
struct half {
  uint16_t bits;

  half() = default;
  PENSTOCK_SCALAR constexpr explicit half(float value) : bits(Round(value)) {}
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, float>) PENSTOCK_SCALAR
      constexpr explicit half(T value)
      : half(static_cast<float>(value)) {}
  PENSTOCK_SCALAR constexpr operator float() const { return Widen(bits); }
  PENSTOCK_SCALAR static constexpr half FromBits(uint16_t bits) {
    half h(0.0f);
    h.bits = bits;
    return h;
  }

 private:
  PENSTOCK_SCALAR static constexpr float Widen(uint16_t h) {
    const uint32_t shifted = (h & 0x7fffu) << 13;
    const uint32_t normal = shifted + (112u << 23);  // rebias: 127 - 15
    const uint32_t infinite = shifted + (224u << 23);
    // Without an exponent the fraction counts units of 2^-24: give it one, and take its implicit
    // bit off again.
    const float subnormal = __builtin_bit_cast(float, shifted + (113u << 23)) - 0x1p-14f;
    uint32_t magnitude = shifted < (1u << 23) ? __builtin_bit_cast(uint32_t, subnormal) : normal;
    magnitude = shifted >= (31u << 23) ? infinite : magnitude;
    return __builtin_bit_cast(float, magnitude | ((h & 0x8000u) << 16));
  }
  PENSTOCK_SCALAR static constexpr uint16_t Round(float value) {
    const uint32_t word = __builtin_bit_cast(uint32_t, value);
    const uint32_t magnitude = word & 0x7fffffffu;
    // Rounding carries from the fraction into the exponent by itself, up to infinity.
    const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    // One half's ulp (2^-24) is one float's ulp at 0.5: the addition rounds.
    const float aligned = __builtin_bit_cast(float, magnitude) + 0.5f;
    const uint32_t subnormal = __builtin_bit_cast(uint32_t, aligned) - (126u << 23);
    const uint32_t nan = 0x7e00u | (magnitude >> 13 & 0x3ffu);
    uint32_t h = magnitude < (113u << 23) ? subnormal : normal;
    h = magnitude >= (143u << 23) ? 0x7c00u : h;
    h = magnitude > (255u << 23) ? nan : h;
    return static_cast<uint16_t>(h | (word >> 16 & 0x8000u));
  }
};

// The upper half of a float: 8 bits of exponent, 7 of fraction.
struct bfloat16 {
  uint16_t bits;

  bfloat16() = default;
  PENSTOCK_SCALAR constexpr explicit bfloat16(float value) : bits(Round(value)) {}
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, float>) PENSTOCK_SCALAR
      constexpr explicit bfloat16(T value)
      : bfloat16(static_cast<float>(value)) {}
  PENSTOCK_SCALAR constexpr operator float() const {
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
  }
  PENSTOCK_SCALAR static constexpr bfloat16 FromBits(uint16_t bits) {
    bfloat16 b(0.0f);
    b.bits = bits;
    return b;
  }

 private:
  PENSTOCK_SCALAR static constexpr uint16_t Round(float value) {
    const uint32_t word = __builtin_bit_cast(uint32_t, value);
    const uint32_t rounded = (word + 0x7fffu + (word >> 16 & 1u)) >> 16;
    const uint32_t nan = word >> 16 | 0x40u;
    return static_cast<uint16_t>((word & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
};

template <class T>
inline constexpr bool kIsFloat16 = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

// The type in which values of T are computed: float for the 16-bit types, else T.
template <class T>
using ComputeType = std::conditional_t<kIsFloat16<T>, float, T>;

// Comparisons, and arithmetic with a float, need no operators: both sides widen.
template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR constexpr T operator+(T a, T b) {
  return T(float(a) + float(b));
}
template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR constexpr T operator-(T a, T b) {
  return T(float(a) - float(b));
}
template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR constexpr T operator*(T a, T b) {
  return T(float(a) * float(b));
}
template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR constexpr T operator/(T a, T b) {
  return T(float(a) / float(b));
}
template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR constexpr T operator-(T a) {
  return T::FromBits(a.bits ^ 0x8000u);
}
template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR constexpr T& operator+=(T& a, T b) { return a = a + b; }
template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR constexpr T& operator-=(T& a, T b) { return a = a - b; }
template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR constexpr T& operator*=(T& a, T b) { return a = a * b; }
template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR constexpr T& operator/=(T& a, T b) { return a = a / b; }

}  // namespace penstock

template <>
struct std::numeric_limits<penstock::half> : std::numeric_limits<float> {
  using half = penstock::half;
  static constexpr int digits = 11, digits10 = 3, max_digits10 = 5;
  static constexpr int min_exponent = -13, min_exponent10 = -4, max_exponent = 16,
                       max_exponent10 = 4;
  static constexpr half min() noexcept { return half::FromBits(0x0400); }
  static constexpr half max() noexcept { return half::FromBits(0x7bff); }
  static constexpr half lowest() noexcept { return half::FromBits(0xfbff); }
  static constexpr half epsilon() noexcept { return half::FromBits(0x1400); }
  static constexpr half round_error() noexcept { return half::FromBits(0x3800); }
  static constexpr half infinity() noexcept { return half::FromBits(0x7c00); }
  static constexpr half quiet_NaN() noexcept { return half::FromBits(0x7e00); }
  static constexpr half signaling_NaN() noexcept { return half::FromBits(0x7d00); }
  static constexpr half denorm_min() noexcept { return half::FromBits(0x0001); }
};

template <>
struct std::numeric_limits<penstock::bfloat16> : std::numeric_limits<float> {
  using bfloat16 = penstock::bfloat16;
  static constexpr int digits = 8, digits10 = 2, max_digits10 = 4;
  static constexpr bfloat16 min() noexcept { return bfloat16::FromBits(0x0080); }
  static constexpr bfloat16 max() noexcept { return bfloat16::FromBits(0x7f7f); }
  static constexpr bfloat16 lowest() noexcept { return bfloat16::FromBits(0xff7f); }
  static constexpr bfloat16 epsilon() noexcept { return bfloat16::FromBits(0x3c00); }
  static constexpr bfloat16 round_error() noexcept { return bfloat16::FromBits(0x3f00); }
  static constexpr bfloat16 infinity() noexcept { return bfloat16::FromBits(0x7f80); }
  static constexpr bfloat16 quiet_NaN() noexcept { return bfloat16::FromBits(0x7fc0); }
  static constexpr bfloat16 signaling_NaN() noexcept { return bfloat16::FromBits(0x7fa0); }
  static constexpr bfloat16 denorm_min() noexcept { return bfloat16::FromBits(0x0001); }
};
