#pragma once

#include <cmath>
#include <limits>

// The gamma function's logarithm and derivatives, and the zeta function they are made of. In
// double, to about 1e-13; float goes through it. None is vectorised.
namespace penstock::math {

// log |gamma(x)|. Unlike std::lgamma it writes no global variable.
inline double Lgamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

// The derivative of Lgamma; NaN at 0 and the negative integers.
inline double Digamma(double x) {
  double shift = 0;
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    shift = -M_PI / std::tan(M_PI * (x - std::floor(x)));  // psi(1 - x) - psi(x) = pi cot(pi x)
    x = 1 - x;
  }
  for (; x < 10; x += 1) shift -= 1 / x;
  // From here the asymptotic series, with the Bernoulli numbers over 2k, is good to the last
  // digits.
  const double w = 1 / (x * x);
  const double series =
      w * (1.0 / 12 - w * (1.0 / 120 -
                           w * (1.0 / 252 -
                                w * (1.0 / 240 - w * (1.0 / 132 - w * (691.0 / 32760 - w / 12))))));
  return shift + (std::log(x) - 0.5 / x - series);
}

// The sum of (q + k)^-x over k >= 0, by Euler and Maclaurin: some terms as they are, the rest by
// its asymptotic series. Defined for x > 1, and q > 0 or x whole; infinite or NaN elsewhere.
inline double Zeta(double x, double q) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kLowest = -65536;  // each term below 0 is summed: further down it is refused
  constexpr int kTerms = 10;
  if (x == 1) return kInfinity;
  if (!(x > 1) || std::isnan(q) || q < kLowest) return kNan;
  if (q <= 0) {
    if (q == std::floor(q)) return std::fmod(x, 2) == 0 ? kInfinity : kNan;
    if (x != std::floor(x)) return kNan;
  }
  double sum = 0;
  for (int k = 0; k < kTerms || q <= kTerms; ++k, q += 1) sum += std::pow(q, -x);
  const double power = std::pow(q, -x);
  sum += power * q / (x - 1) + power / 2;
  // The Bernoulli numbers over (2j)!, times x (x + 1) ... (x + 2j - 2) q^(1 - x - 2j).
  constexpr double kCoefficients[] = {1.0 / 12,          -1.0 / 720,
                                      1.0 / 30240,       -1.0 / 1209600,
                                      1.0 / 47900160,    -691.0 / 1307674368000,
                                      1.0 / 74724249600, -3617.0 / 10670622842880000};
  double factor = x * power / q;
  double s = x;
  for (const double coefficient : kCoefficients) {
    sum += coefficient * factor;
    factor *= (s + 1) * (s + 2) / (q * q);
    s += 2;
  }
  return sum;
}

// The n-th derivative of Digamma; NaN unless n is whole and not negative.
inline double Polygamma(double n, double x) {
  if (n < 0 || n != std::floor(n)) return std::numeric_limits<double>::quiet_NaN();
  if (n == 0) return Digamma(x);
  const double magnitude = std::exp(Lgamma(n + 1)) * Zeta(n + 1, x);
  return std::fmod(n, 2) == 0 ? -magnitude : magnitude;
}

}  // namespace penstock::math
