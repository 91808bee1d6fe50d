#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <type_traits>

#include "penstock/core/float16.h"
#include "penstock/kernels/math_divide.h"
#include "penstock/kernels/math_erf.h"
#include "penstock/kernels/math_exp.h"
#include "penstock/kernels/math_log.h"
#include "penstock/kernels/math_pow.h"
#include "penstock/kernels/math_rounding.h"
#include "penstock/kernels/math_trigonometry.h"

// The scalar functions that element-wise ops are made of, read by both the CPU's and the GPU's
// compiler. For float they are branch-free, within 2 ulp everywhere (subnormals too) and vectorised
// by the loops of elementwise-inl.h, where the comments below do not say otherwise. double and
// complex are the standard library's; half and bfloat16 go through float.
namespace penstock::math {

template <class T>
concept Complex = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

// For float the library's too: right, but a call for each element.
#define PENSTOCK_MATH_LIBRARY_FLOAT(Name, function) \
  PENSTOCK_SCALAR float Name(float x) { return std::function(x); }
PENSTOCK_MATH_LIBRARY_FLOAT(Sqrt, sqrt)  // but this one is an instruction
PENSTOCK_MATH_LIBRARY_FLOAT(Tan, tan)
PENSTOCK_MATH_LIBRARY_FLOAT(Asin, asin)
PENSTOCK_MATH_LIBRARY_FLOAT(Acos, acos)
PENSTOCK_MATH_LIBRARY_FLOAT(Atan, atan)
PENSTOCK_MATH_LIBRARY_FLOAT(Asinh, asinh)
PENSTOCK_MATH_LIBRARY_FLOAT(Acosh, acosh)
#undef PENSTOCK_MATH_LIBRARY_FLOAT

// The library's float form is off by more than 2 ulp.
PENSTOCK_SCALAR float Erfc(float x) {
  return static_cast<float>(std::erfc(static_cast<double>(x)));
}

// Right for every angle, and not vectorised: ops call the Fast form and this one where it does not
// reach.
PENSTOCK_SCALAR float Sin(float x) { return IsFastAngle(x) ? FastSin(x) : std::sin(x); }
PENSTOCK_SCALAR float Cos(float x) { return IsFastAngle(x) ? FastCos(x) : std::cos(x); }

#define PENSTOCK_MATH_DOUBLE(Name, function)                         \
  PENSTOCK_SCALAR double Name(double x) { return std::function(x); } \
  template <class T>                                                 \
  requires kIsFloat16<T> PENSTOCK_SCALAR T Name(T x) { return T(Name(float(x))); }
#define PENSTOCK_MATH_COMPLEX(Name, function) \
  template <Complex T>                        \
  PENSTOCK_SCALAR T Name(const T& x) {        \
    return std::function(x);                  \
  }
#define PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Name, function) \
  PENSTOCK_MATH_DOUBLE(Name, function)                   \
  PENSTOCK_MATH_COMPLEX(Name, function)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Sqrt, sqrt)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Exp, exp)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Log, log)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Sin, sin)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Cos, cos)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Tan, tan)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Asin, asin)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Acos, acos)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Atan, atan)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Sinh, sinh)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Cosh, cosh)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Tanh, tanh)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Asinh, asinh)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Acosh, acosh)
PENSTOCK_MATH_DOUBLE_AND_COMPLEX(Atanh, atanh)
PENSTOCK_MATH_DOUBLE(Expm1, expm1)
PENSTOCK_MATH_DOUBLE(Log1p, log1p)
PENSTOCK_MATH_DOUBLE(Erf, erf)
PENSTOCK_MATH_DOUBLE(Erfc, erfc)
#undef PENSTOCK_MATH_DOUBLE_AND_COMPLEX
#undef PENSTOCK_MATH_COMPLEX
#undef PENSTOCK_MATH_DOUBLE

// What the standard library lacks. Both keep the digits that 1 + x would lose.
template <Complex T>
PENSTOCK_SCALAR T Expm1(const T& x) {
  const auto sine_of_half = std::sin(x.imag() / 2);
  return T(std::expm1(x.real()) * std::cos(x.imag()) - 2 * sine_of_half * sine_of_half,
           std::exp(x.real()) * std::sin(x.imag()));
}
template <Complex T>
PENSTOCK_SCALAR T Log1p(const T& x) {
  const auto a = x.real(), b = x.imag();
  return T(std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a));
}

PENSTOCK_SCALAR double Sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1.0) / (1.0 + e);
}
template <Complex T>
PENSTOCK_SCALAR T Sigmoid(const T& x) {
  return typename T::value_type(1) / (typename T::value_type(1) + std::exp(-x));
}
template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR T Sigmoid(T x) { return T(Sigmoid(float(x))); }

template <class T>
PENSTOCK_SCALAR T Rsqrt(T x) {
  return T(1) / Sqrt(x);
}

template <class T>
requires(std::is_same_v<T, double> || Complex<T>) PENSTOCK_SCALAR T Pow(T x, T y) {
  return std::pow(x, y);
}
template <class T>
requires kIsFloat16<T> PENSTOCK_SCALAR T Pow(T x, T y) { return T(Pow(float(x), float(y))); }
// Wraps around. REQUIRES: y >= 0, for the caller to refuse; a negative power gives 1.
template <std::integral T>
PENSTOCK_SCALAR T Pow(T x, T y) {
  using Unsigned = std::make_unsigned_t<std::common_type_t<T, int>>;
  Unsigned base = static_cast<Unsigned>(x), result = 1;
  for (; y > 0; y /= 2, base *= base) result *= y % 2 != 0 ? base : Unsigned(1);
  return static_cast<T>(result);
}

}  // namespace penstock::math
