#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>
#include <vector>

#include "penstock/kernels/linalg/guard.h"

namespace penstock::kernels {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Map = Eigen::Map<Matrix<T>>;
template <class T>
using ConstMap = Eigen::Map<const Matrix<T>>;

// Divides by the singular values that are not lost in rounding.
template <class T>
Outcome ShortestSolution(const T* a, const T* b, int64_t rows, int64_t cols, int64_t columns,
                         T* x) {
  using Real = typename Eigen::NumTraits<T>::Real;
  const int64_t inner = std::min(rows, cols);
  Matrix<T> u(rows, inner), v(cols, inner);
  std::vector<T> s(static_cast<size_t>(inner));
  const Outcome outcome = Svd(a, rows, cols, false, s.data(), u.data(), v.data());
  if (outcome != Outcome::kOk) return outcome;
  const Real least =
      std::real(s[0]) * static_cast<Real>(inner) * std::numeric_limits<Real>::epsilon();
  Matrix<T> y = u.adjoint() * ConstMap<T>(b, rows, columns);
  for (int64_t i = 0; i < inner; ++i) {
    const T scale =
        std::real(s[static_cast<size_t>(i)]) <= least ? T(0) : T(1) / s[static_cast<size_t>(i)];
    y.row(i) *= scale;
  }
  Map<T>(x, cols, columns).noalias() = v * y;
  return Outcome::kOk;
}

}  // namespace

template <class T>
Outcome Cholesky(const T* a, int64_t n, T* l) {
  return Guarded([&] {
    const Eigen::LLT<Matrix<T>> llt(ConstMap<T>(a, n, n));
    if (llt.info() != Eigen::Success) return Outcome::kFailed;
    Map<T> out(l, n, n);
    out.setZero();
    out.template triangularView<Eigen::Lower>() = llt.matrixL();
    return Outcome::kOk;
  });
}

template <class T>
Outcome CholeskyGradient(const T* l, const T* dl, int64_t n, T* da) {
  return Guarded([&] {
    const ConstMap<T> lower(l, n, n), gradient(dl, n, n);
    const auto adjoint = lower.template triangularView<Eigen::Lower>().adjoint();
    Matrix<T> middle = adjoint * gradient.template triangularView<Eigen::Lower>().toDenseMatrix();
    middle.template triangularView<Eigen::StrictlyUpper>().setZero();
    middle.diagonal() *= T(0.5);
    adjoint.solveInPlace(middle);
    Matrix<T> outer = middle.transpose();
    adjoint.solveInPlace(outer);
    Map<T>(da, n, n) = T(0.5) * (outer + outer.transpose());
    return Outcome::kOk;
  });
}

template <class T>
Outcome TriangularSolve(const T* a, const T* b, int64_t n, int64_t columns, bool lower,
                        bool adjoint, T* x) {
  return Guarded([&] {
    const ConstMap<T> matrix(a, n, n);
    Map<T> out(x, n, columns);
    out = ConstMap<T>(b, n, columns);
    auto solve = [&](const auto& triangle) {
      if (adjoint) {
        triangle.adjoint().solveInPlace(out);
      } else {
        triangle.solveInPlace(out);
      }
    };
    if (lower) {
      solve(matrix.template triangularView<Eigen::Lower>());
    } else {
      solve(matrix.template triangularView<Eigen::Upper>());
    }
    return Outcome::kOk;
  });
}

template <class T>
Outcome LeastSquares(const T* a, const T* b, int64_t rows, int64_t cols, int64_t columns, double l2,
                     bool fast, T* x) {
  return Guarded([&] {
    if (!fast) return ShortestSolution(a, b, rows, cols, columns, x);
    const ConstMap<T> matrix(a, rows, cols), right(b, rows, columns);
    Map<T> out(x, cols, columns);
    const bool tall = rows >= cols;
    Matrix<T> gramian =
        tall ? Matrix<T>(matrix.adjoint() * matrix) : Matrix<T>(matrix * matrix.adjoint());
    gramian.diagonal().array() += T(l2);
    const Eigen::LLT<Matrix<T>> llt(gramian);
    if (llt.info() != Eigen::Success) return Outcome::kSingular;
    if (tall) {
      out.noalias() = matrix.adjoint() * right;
      llt.solveInPlace(out);
    } else {
      const Matrix<T> y = llt.solve(right);
      out.noalias() = matrix.adjoint() * y;
    }
    return Outcome::kOk;
  });
}

#define INSTANTIATE(...)                                                                           \
  template Outcome Cholesky(const __VA_ARGS__*, int64_t, __VA_ARGS__*);                            \
  template Outcome TriangularSolve(const __VA_ARGS__*, const __VA_ARGS__*, int64_t, int64_t, bool, \
                                   bool, __VA_ARGS__*);                                            \
  template Outcome LeastSquares(const __VA_ARGS__*, const __VA_ARGS__*, int64_t, int64_t, int64_t, \
                                double, bool, __VA_ARGS__*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
template Outcome CholeskyGradient(const float*, const float*, int64_t, float*);
template Outcome CholeskyGradient(const double*, const double*, int64_t, double*);

}  // namespace penstock::kernels
