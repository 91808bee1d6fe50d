#include <Eigen/QR>
#include <algorithm>

#include "penstock/kernels/linalg/guard.h"
#include "penstock/kernels/linalg/wide.h"

namespace penstock::kernels {

template <class T>
Outcome Qr(const T* a, int64_t rows, int64_t cols, bool full, T* q, T* r) {
  using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Matrix = Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic>;
  return Guarded([&] {
    const Eigen::HouseholderQR<Matrix> qr(
        Eigen::Map<const Rows>(a, rows, cols).template cast<Wide<T>>());
    const int64_t inner = full ? rows : std::min(rows, cols);
    Matrix factor = Matrix::Identity(rows, inner);
    factor.applyOnTheLeft(qr.householderQ());
    Eigen::Map<Rows>(q, rows, inner) = factor.template cast<T>();
    Eigen::Map<Rows> upper(r, inner, cols);
    upper.setZero();
    for (int64_t i = 0; i < std::min(inner, cols); ++i) {
      upper.row(i).tail(cols - i) = qr.matrixQR().row(i).tail(cols - i).template cast<T>();
    }
    return Outcome::kOk;
  });
}

#define INSTANTIATE(...) \
  template Outcome Qr(const __VA_ARGS__*, int64_t, int64_t, bool, __VA_ARGS__*, __VA_ARGS__*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)

}  // namespace penstock::kernels
