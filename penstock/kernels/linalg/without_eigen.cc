#include "penstock/kernels/linalg/decompositions.h"
#include "penstock/kernels/linalg/real_eig.h"

// Compiled in the place of kernels/linalg/eigen/ when Eigen is not there.

namespace penstock::kernels {

#define MISSING_FOR(T, Name, ...) \
  template <>                     \
  Outcome Name<T>(__VA_ARGS__) {  \
    return Outcome::kMissing;     \
  }
#define MISSING_FOR_ALL(T)                                                                      \
  MISSING_FOR(T, Inverse, const T*, int64_t, bool, T*)                                          \
  MISSING_FOR(T, Solve, const T*, const T*, int64_t, int64_t, bool, T*)                         \
  MISSING_FOR(T, LogDeterminant, const T*, int64_t, T*, T*)                                     \
  MISSING_FOR(T, Lu, const T*, int64_t, T*, int64_t*)                                           \
  MISSING_FOR(T, Cholesky, const T*, int64_t, T*)                                               \
  MISSING_FOR(T, TriangularSolve, const T*, const T*, int64_t, int64_t, bool, bool, T*)         \
  MISSING_FOR(T, LeastSquares, const T*, const T*, int64_t, int64_t, int64_t, double, bool, T*) \
  MISSING_FOR(T, Qr, const T*, int64_t, int64_t, bool, T*, T*)                                  \
  MISSING_FOR(T, Svd, const T*, int64_t, int64_t, bool, T*, T*, T*)                             \
  MISSING_FOR(T, SelfAdjointEig, const T*, int64_t, T*, T*)                                     \
  MISSING_FOR(T, MatrixSquareRoot, const T*, int64_t, T*)

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;
MISSING_FOR_ALL(float)
MISSING_FOR_ALL(double)
MISSING_FOR_ALL(Complex64)
MISSING_FOR_ALL(Complex128)
MISSING_FOR(float, CholeskyGradient, const float*, const float*, int64_t, float*)
MISSING_FOR(double, CholeskyGradient, const double*, const double*, int64_t, double*)
MISSING_FOR(float, RealEig, const float*, int64_t, Complex64*, Complex64*)
MISSING_FOR(double, RealEig, const double*, int64_t, Complex128*, Complex128*)
MISSING_FOR(Complex64, Eig, const Complex64*, int64_t, Complex64*, Complex64*)
MISSING_FOR(Complex128, Eig, const Complex128*, int64_t, Complex128*, Complex128*)
MISSING_FOR(Complex64, MatrixLogarithm, const Complex64*, int64_t, Complex64*)
MISSING_FOR(Complex128, MatrixLogarithm, const Complex128*, int64_t, Complex128*)

}  // namespace penstock::kernels
