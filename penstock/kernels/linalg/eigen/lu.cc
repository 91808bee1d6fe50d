#include <Eigen/LU>
#include <cmath>

#include "penstock/kernels/linalg/guard.h"

namespace penstock::kernels {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ConstMap = Eigen::Map<const Matrix<T>>;

template <class T>
Eigen::PartialPivLU<Matrix<T>> Decompose(const T* a, int64_t n, bool adjoint) {
  const ConstMap<T> matrix(a, n, n);
  return adjoint ? Eigen::PartialPivLU<Matrix<T>>(matrix.adjoint())
                 : Eigen::PartialPivLU<Matrix<T>>(matrix);
}

// True of a pivot that is exactly 0: a NaN is not.
template <class T>
bool HasZeroPivot(const Eigen::PartialPivLU<Matrix<T>>& lu) {
  const auto pivots = lu.matrixLU().diagonal();
  for (Eigen::Index i = 0; i < pivots.size(); ++i) {
    if (pivots[i] == T(0)) return true;
  }
  return false;
}

}  // namespace

template <class T>
Outcome Inverse(const T* a, int64_t n, bool adjoint, T* out) {
  return Guarded([&] {
    const auto lu = Decompose(a, n, adjoint);
    if (HasZeroPivot<T>(lu)) return Outcome::kSingular;
    Eigen::Map<Matrix<T>>(out, n, n) = lu.inverse();
    return Outcome::kOk;
  });
}

template <class T>
Outcome Solve(const T* a, const T* b, int64_t n, int64_t columns, bool adjoint, T* x) {
  return Guarded([&] {
    const auto lu = Decompose(a, n, adjoint);
    if (HasZeroPivot<T>(lu)) return Outcome::kSingular;
    Eigen::Map<Matrix<T>>(x, n, columns) = lu.solve(ConstMap<T>(b, n, columns));
    return Outcome::kOk;
  });
}

template <class T>
Outcome LogDeterminant(const T* a, int64_t n, T* sign, T* log_abs) {
  return Guarded([&] {
    const auto lu = Decompose(a, n, false);
    const auto pivots = lu.matrixLU().diagonal();
    T product = T(static_cast<double>(lu.permutationP().determinant()));
    auto sum = std::abs(T(0));
    for (Eigen::Index i = 0; i < pivots.size(); ++i) {
      const auto size = std::abs(pivots[i]);
      sum += std::log(size);
      product *= size == 0 ? pivots[i] : pivots[i] / size;
    }
    *sign = product;
    *log_abs = T(sum);
    return Outcome::kOk;
  });
}

template <class T>
Outcome Lu(const T* a, int64_t n, T* lu_out, int64_t* permutation) {
  return Guarded([&] {
    const auto lu = Decompose(a, n, false);
    if (HasZeroPivot<T>(lu)) return Outcome::kSingular;
    Eigen::Map<Matrix<T>>(lu_out, n, n) = lu.matrixLU();
    const auto& indices = lu.permutationP().indices();
    for (int64_t i = 0; i < n; ++i) permutation[indices[i]] = i;
    return Outcome::kOk;
  });
}

#define INSTANTIATE(...)                                                                    \
  template Outcome Inverse(const __VA_ARGS__*, int64_t, bool, __VA_ARGS__*);                \
  template Outcome Solve(const __VA_ARGS__*, const __VA_ARGS__*, int64_t, int64_t, bool,    \
                         __VA_ARGS__*);                                                     \
  template Outcome LogDeterminant(const __VA_ARGS__*, int64_t, __VA_ARGS__*, __VA_ARGS__*); \
  template Outcome Lu(const __VA_ARGS__*, int64_t, __VA_ARGS__*, int64_t*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)

}  // namespace penstock::kernels
