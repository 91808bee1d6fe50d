// What the sources of functions of a matrix share.

#include <cmath>
#include <complex>
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

#include "penstock/kernels/linalg/guard.h"

namespace penstock::kernels {

using ComplexMatrix = Eigen::Matrix<std::complex<double>, Eigen::Dynamic, Eigen::Dynamic>;

inline void StoreValue(std::complex<double> x, bool, std::complex<float>& out) {
  out = std::complex<float>(x);
}
inline void StoreValue(std::complex<double> x, bool, std::complex<double>& out) { out = x; }
template <class R>
void StoreValue(std::complex<double> x, bool is_real, R& out) {
  out = is_real ? static_cast<R>(x.real()) : std::numeric_limits<R>::quiet_NaN();
}

// out = f(a), computed in complex numbers: Eigen's functions of real matrices take several times as
// long to compile. Where f(a) of a real matrix is not real, it is NaN; so it is of a matrix that is
// not finite, over which Eigen's iterations would not end.
template <class T, class F>
Outcome ApplyFunction(const T* a, int64_t n, T* out, F f) {
  return Guarded([&] {
    ComplexMatrix matrix(n, n);
    for (int64_t i = 0; i < n * n; ++i) matrix(i / n, i % n) = std::complex<double>(a[i]);
    const bool finite = matrix.allFinite();
    if (finite) {
      matrix = f(matrix);
    } else {
      matrix.setConstant(std::numeric_limits<double>::quiet_NaN());
    }
    const bool is_real = matrix.imag().norm() <= 1e-10 * matrix.real().norm();
    for (int64_t i = 0; i < n * n; ++i) StoreValue(matrix(i / n, i % n), is_real, out[i]);
    return Outcome::kOk;
  });
}

}  // namespace penstock::kernels
