#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/kernels/math_gamma.h"

// The incomplete gamma function, its derivative by the parameter, and the incomplete beta function.
// In double; float goes through them. None is vectorised.
namespace penstock::math {
namespace internal {

// A number and its derivative, so that a series written once gives both.
struct Dual {
  double value = 0;
  double slope = 0;

  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Dual operator/(Dual a, Dual b) {
    const double quotient = a.value / b.value;
    return {quotient, (a.slope - quotient * b.slope) / b.value};
  }
};

inline constexpr double kTiny = 1e-17;
// Series take about the square root of their parameter. Parameters that would take more than this
// are left to other formulas, or lose digits.
inline int MostTerms(double a) {
  return static_cast<int>(std::min(2e4, 200 + 12 * std::sqrt(std::fabs(a))));
}
inline constexpr double kLargeGamma = 1e6;

// S in P(a, x) = x^a exp(-x) / gamma(a + 1) S: the sum of x^n / ((a + 1) ... (a + n)). For x <= a
// or x <= 1.
inline Dual GammaSeries(double a, double x) {
  Dual term{1, 0}, sum{1, 0};
  for (int n = 1, most = MostTerms(a); n < most; ++n) {
    term = term * Dual{x, 0} / Dual{a + n, 1};
    sum = sum + term;
    if (term.value < kTiny * sum.value && std::fabs(term.slope) < kTiny * std::fabs(sum.slope))
      break;
  }
  return sum;
}

// F in Q(a, x) = x^a exp(-x) / gamma(a) F: a continued fraction, by Lentz's method. For larger x.
inline Dual GammaFraction(double a, double x) {
  const Dual parameter{a, 1};
  constexpr double kFloor = 1e-300;
  Dual b = Dual{x + 1, 0} - parameter;
  Dual c{1 / kFloor, 0};
  Dual d = Dual{1, 0} / b;
  Dual fraction = d;
  for (int n = 1, most = MostTerms(a); n < most; ++n) {
    const Dual factor = Dual{static_cast<double>(n), 0} * (parameter - Dual{double(n), 0});
    b = b + Dual{2, 0};
    d = factor * d + b;
    if (std::fabs(d.value) < kFloor) d.value = kFloor;
    d = Dual{1, 0} / d;
    c = n == 1 ? b : b + factor / c;  // what 1 / kFloor stands for adds nothing
    if (std::fabs(c.value) < kFloor) c.value = kFloor;
    const Dual step = c * d;
    fraction = fraction * step;
    if (std::fabs(step.value - 1) < 1e-16 && std::fabs(step.slope) < 1e-16) break;
  }
  return fraction;
}

inline bool TakesSeries(double a, double x) { return x <= 1 || x <= a; }

// x^a exp(-x) / gamma(a), which is x times the density.
inline double GammaWeight(double a, double x) { return std::exp(a * std::log(x) - x - Lgamma(a)); }

// P and Q for parameters so large that the distribution is nearly normal: the first term of Temme's
// uniform expansion (1979), which is off by about 1 / a^(3/2).
inline double GammaLarge(double a, double x, bool upper) {
  const double mu = (x - a) / a;
  const double half_square = mu - std::log1p(mu);
  const double eta = std::copysign(std::sqrt(2 * half_square), mu);
  const double first = std::fabs(eta) < 1e-3 ? -1.0 / 3 + eta / 12 : 1 / mu - 1 / eta;
  const double rest = std::exp(-a * half_square) / std::sqrt(2 * M_PI * a) * first;
  const double at = eta * std::sqrt(a / 2);
  return upper ? std::erfc(at) / 2 + rest : std::erfc(-at) / 2 - rest;
}

inline bool IsGammaDomain(double a, double x) { return a > 0 && x >= 0; }

}  // namespace internal

// The regularised lower incomplete gamma function. NaN unless a > 0 and x >= 0.
inline double Igamma(double a, double x) {
  using namespace internal;
  if (!IsGammaDomain(a, x)) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0 || std::isinf(a)) return std::isinf(x) ? std::nan("") : 0;
  if (std::isinf(x)) return 1;
  if (a > kLargeGamma) return GammaLarge(a, x, false);
  if (TakesSeries(a, x)) return GammaWeight(a, x) / a * GammaSeries(a, x).value;
  return 1 - GammaWeight(a, x) * GammaFraction(a, x).value;
}

// 1 - Igamma, with its own digits.
inline double Igammac(double a, double x) {
  using namespace internal;
  if (!IsGammaDomain(a, x)) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0 || std::isinf(a)) return std::isinf(x) ? std::nan("") : 1;
  if (std::isinf(x)) return 0;
  if (a > kLargeGamma) return GammaLarge(a, x, true);
  if (TakesSeries(a, x)) return 1 - Igamma(a, x);
  return GammaWeight(a, x) * GammaFraction(a, x).value;
}

// The derivative of Igamma by a, divided by x times the density: what both functions below share.
namespace internal {
inline double IgammaSlopeOverWeight(double a, double x) {
  if (TakesSeries(a, x)) {
    const Dual s = GammaSeries(a, x);
    return ((std::log(x) - Digamma(a + 1)) * s.value + s.slope) / a;
  }
  const Dual f = GammaFraction(a, x);
  return -((std::log(x) - Digamma(a)) * f.value + f.slope);
}
}  // namespace internal

inline double IgammaGradA(double a, double x) {
  using namespace internal;
  if (!IsGammaDomain(a, x)) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0 || std::isinf(x) || std::isinf(a)) return 0;
  return GammaWeight(a, x) * IgammaSlopeOverWeight(a, x);
}

// How a gamma variate moves with its parameter while its probability stays.
inline double RandomGammaGrad(double a, double sample) {
  using namespace internal;
  if (!IsGammaDomain(a, sample)) return std::numeric_limits<double>::quiet_NaN();
  if (sample == 0 || std::isinf(sample) || std::isinf(a)) return 0;
  return -sample * IgammaSlopeOverWeight(a, sample);
}

// The regularised incomplete beta function. NaN unless a, b > 0 and 0 <= x <= 1.
inline double Betainc(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0 || x == 1) return x;
  const double log_weight =
      Lgamma(a + b) - Lgamma(a) - Lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  // The continued fraction converges fast below the mean; above it the other side is computed.
  const bool mirrored = x >= (a + 1) / (a + b + 2);
  if (mirrored) {
    std::swap(a, b);
    x = 1 - x;
  }
  constexpr double kFloor = 1e-300;
  const auto away = [](double v) { return std::fabs(v) < kFloor ? kFloor : v; };
  double c = 1, d = 1 / away(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1, most = internal::MostTerms(std::max(a, b)); m < most; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    fraction *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    fraction *= c * d;
    if (std::fabs(c * d - 1) < 1e-16) break;
  }
  const double part = std::exp(log_weight) * fraction / a;
  return mirrored ? 1 - part : part;
}

}  // namespace penstock::math
