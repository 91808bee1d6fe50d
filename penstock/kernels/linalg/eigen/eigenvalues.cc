#include <Eigen/Eigenvalues>

#include "penstock/kernels/linalg/guard.h"
#include "penstock/kernels/linalg/wide.h"

namespace penstock::kernels {
namespace {

template <class T>
using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using WideMatrix = Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic>;

template <class T>
WideMatrix<T> Widened(const T* a, int64_t n) {
  return Eigen::Map<const Rows<T>>(a, n, n).template cast<Wide<T>>();
}

template <class T, class Solver>
Outcome Store(const Solver& solver, int64_t n, T* e, T* v) {
  if (solver.info() != Eigen::Success) return Outcome::kFailed;
  const WideMatrix<T> values = solver.eigenvalues().template cast<Wide<T>>();
  Eigen::Map<Rows<T>>(e, n, 1) = values.template cast<T>();
  if (v != nullptr) Eigen::Map<Rows<T>>(v, n, n) = solver.eigenvectors().template cast<T>();
  return Outcome::kOk;
}

}  // namespace

template <class T>
Outcome Eig(const T* a, int64_t n, T* e, T* v) {
  return Guarded([&] {
    const WideMatrix<T> matrix = Widened(a, n);
    if (!matrix.allFinite()) return Outcome::kFailed;
    const Eigen::ComplexEigenSolver<WideMatrix<T>> solver(matrix, v != nullptr);
    return Store(solver, n, e, v);
  });
}

template Outcome Eig(const std::complex<float>*, int64_t, std::complex<float>*,
                     std::complex<float>*);
template Outcome Eig(const std::complex<double>*, int64_t, std::complex<double>*,
                     std::complex<double>*);

}  // namespace penstock::kernels
