#pragma once

#include <cmath>
#include <limits>

// Modified Bessel functions of order 0 and 1, in double, to about 1e-14; float goes through them.
// None is vectorised. The e forms are scaled by exp(-|x|) or exp(x), so that they neither overflow
// nor vanish. (Those of the first and second kind, J and Y, are the C library's.)
namespace penstock::math {
namespace internal {

// Beyond, the asymptotic series is good to the last digits; below, few enough terms of others.
inline constexpr double kFarBessel = 20;

// The series that I and K of this order share for large x, in which the signs of I's alternate:
// the sum of (mu - 1)(mu - 9)...(mu - (2k - 1)^2) / (k! (sign 8 x)^k), where mu = 4 order^2.
inline double BesselFar(double x, int order, double sign) {
  const double mu = 4.0 * order * order;
  double term = 1, sum = 1;
  for (int k = 1; k < 40; ++k) {
    const double odd = 2 * k - 1;
    term *= (mu - odd * odd) / (sign * 8 * x * k);
    sum += term;
    if (std::fabs(term) < 1e-17 * std::fabs(sum)) break;
  }
  return sum;
}

// The sum of (x/2)^2k / (k! (k + order)!), times (x/2)^order.
inline double BesselINear(double x, int order) {
  const double square = x * x / 4;
  double term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 200; ++k) {
    term *= square / (static_cast<double>(k) * (k + order));
    sum += term;
    if (term < 1e-17 * sum) break;
  }
  return sum;
}

// exp(-|x|) I(|x|).
inline double BesselIScaled(double x, int order) {
  const double a = std::fabs(x);
  if (a < kFarBessel) return std::exp(-a) * BesselINear(a, order);
  if (std::isinf(a)) return 0;
  return BesselFar(a, order, -1) / std::sqrt(2 * M_PI * a);
}

// Up to here K is summed as a series in x^2 beside a logarithm.
inline constexpr double kNearBesselK = 2;

inline double BesselK0Near(double x) {
  constexpr double kEuler = 0.57721566490153286;
  const double square = x * x / 4;
  double term = 1, harmonic = 0, sum = 0;
  for (int k = 1; k < 60; ++k) {
    term *= square / (static_cast<double>(k) * k);
    harmonic += 1.0 / k;
    sum += term * harmonic;
    if (term * harmonic < 1e-18 * sum) break;
  }
  return sum - (std::log(x / 2) + kEuler) * BesselINear(x, 0);
}
inline double BesselK1Near(double x) {
  constexpr double kEuler = 0.57721566490153286;
  const double square = x * x / 4;
  // psi(k + 1) + psi(k + 2) = H(k) + H(k + 1) - 2 gamma
  double term = 1, below = 0, sum = 0;
  for (int k = 0; k < 60; ++k) {
    if (k > 0) {
      term *= square / (static_cast<double>(k) * (k + 1));
      below += 1.0 / k;
    }
    sum += term * (below + below + 1.0 / (k + 1) - 2 * kEuler);
    if (k > 2 && term < 1e-18) break;
  }
  return 1 / x + std::log(x / 2) * BesselINear(x, 1) - x / 4 * sum;
}

// exp(x) K(x) as the integral of exp(-x (cosh t - 1)) cosh(order t), whose equidistant sums
// converge like exp(-1/step).
inline double BesselKIntegral(double x, int order) {
  constexpr double kStep = 1.0 / 8;
  double sum = 0.5;
  for (int i = 1; i < 64; ++i) {
    const double c = std::cosh(i * kStep);
    const double term = std::exp(-x * (c - 1)) * (order == 0 ? 1 : c);
    sum += term;
    if (term < 1e-18) break;
  }
  return sum * kStep;
}

// exp(x) K(x); infinite at 0 and, as TensorFlow has it, below.
inline double BesselKScaled(double x, int order) {
  if (x <= 0) return std::numeric_limits<double>::infinity();
  if (std::isnan(x)) return x;
  if (x <= kNearBesselK) return std::exp(x) * (order == 0 ? BesselK0Near(x) : BesselK1Near(x));
  if (x < kFarBessel) return BesselKIntegral(x, order);
  if (std::isinf(x)) return 0;
  return std::sqrt(M_PI / (2 * x)) * BesselFar(x, order, 1);
}

}  // namespace internal

// Like K, infinite at 0 and below.
inline double BesselY0(double x) {
  return x < 0 ? -std::numeric_limits<double>::infinity() : ::y0(x);
}
inline double BesselY1(double x) {
  return x < 0 ? -std::numeric_limits<double>::infinity() : ::y1(x);
}

inline double BesselI0e(double x) { return internal::BesselIScaled(x, 0); }
inline double BesselI1e(double x) {
  return std::isnan(x) ? x : std::copysign(internal::BesselIScaled(x, 1), x);
}
inline double BesselI0(double x) {
  const double a = std::fabs(x);
  return a < internal::kFarBessel ? internal::BesselINear(a, 0) : std::exp(a) * BesselI0e(x);
}
inline double BesselI1(double x) {
  const double a = std::fabs(x);
  if (a < internal::kFarBessel) return std::copysign(internal::BesselINear(a, 1), x);
  return std::isinf(a) ? x : std::exp(a) * BesselI1e(x);
}
inline double BesselK0e(double x) { return internal::BesselKScaled(x, 0); }
inline double BesselK1e(double x) { return internal::BesselKScaled(x, 1); }
inline double BesselK0(double x) {
  if (x > 0 && x <= internal::kNearBesselK) return internal::BesselK0Near(x);
  return x > 0 ? std::exp(-x) * BesselK0e(x) : BesselK0e(x);
}
inline double BesselK1(double x) {
  if (x > 0 && x <= internal::kNearBesselK) return internal::BesselK1Near(x);
  return x > 0 ? std::exp(-x) * BesselK1e(x) : BesselK1e(x);
}

}  // namespace penstock::math
