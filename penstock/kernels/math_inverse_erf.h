#pragma once

#include <cmath>
#include <limits>

// The inverses of the error function and of the normal distribution, in double, to about 1e-15;
// float goes through them.
namespace penstock::math {
namespace internal {

// x with erf(x) = y, for |y| <= 1/2.
inline double InverseErfNear(double y) {
  const double square = y * y;
  double x = std::sqrt(M_PI) / 2 * y * (1 + square * (M_PI / 12 + square * 7 * M_PI * M_PI / 480));
  for (int i = 0; i < 3; ++i) {  // Halley's steps
    const double step = (std::erf(x) - y) * (std::sqrt(M_PI) / 2) * std::exp(x * x);
    x -= step / (1 + x * step);
  }
  return x;
}

// x with erfc(x) = q, for 0 < q <= 1/2. From a rational estimate (Abramowitz and Stegun 26.2.23).
inline double InverseErfcFar(double q) {
  const double t = std::sqrt(-2 * std::log(q / 2));
  const double estimate = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                                  (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  double x = estimate * M_SQRT1_2;
  if (x > 10) {  // q is near where numbers lose their digits: its logarithm is not
    for (int i = 0; i < 3; ++i) {
      const double w = 1 / (2 * x * x);
      const double series = 1 - w * (1 - 3 * w * (1 - 5 * w * (1 - 7 * w * (1 - 9 * w))));
      const double miss = x * x + std::log(x * std::sqrt(M_PI) / series) + std::log(q);
      x -= miss / (2 * x + 1 / x);
    }
    return x;
  }
  for (int i = 0; i < 3; ++i) {
    const double step = (q - std::erfc(x)) * (std::sqrt(M_PI) / 2) * std::exp(x * x);
    x -= step / (1 + x * step);
  }
  return x;
}

}  // namespace internal

// NaN outside of [-1, 1].
inline double Erfinv(double y) {
  const double a = std::fabs(y);
  if (a <= 0.5) return internal::InverseErfNear(y);
  if (a == 1) return std::copysign(std::numeric_limits<double>::infinity(), y);
  if (!(a < 1)) return std::numeric_limits<double>::quiet_NaN();
  return std::copysign(internal::InverseErfcFar(1 - a), y);
}

// x below which a normal number falls with probability p. NaN outside of [0, 1].
inline double Ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0) return -std::numeric_limits<double>::infinity();
  if (p < 0.25) return -M_SQRT2 * internal::InverseErfcFar(2 * p);
  return M_SQRT2 * Erfinv(2 * p - 1);
}

}  // namespace penstock::math
