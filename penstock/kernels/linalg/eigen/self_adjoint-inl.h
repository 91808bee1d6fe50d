// Included by the sources that instantiate SelfAdjointEig for real and for complex matrices.
// Computed in the type of the matrix: the signs of the vectors hang on the course of the iteration,
// and users compare them with TensorFlow's.

#include <Eigen/Eigenvalues>

#include "penstock/kernels/linalg/guard.h"

namespace penstock::kernels {

template <class T>
Outcome SelfAdjointEig(const T* a, int64_t n, T* e, T* v) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Guarded([&] {
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(
        Eigen::Map<const Matrix>(a, n, n),
        v != nullptr ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    if (solver.info() != Eigen::Success) return Outcome::kFailed;
    for (int64_t i = 0; i < n; ++i) e[i] = solver.eigenvalues()[i];
    if (v != nullptr) Eigen::Map<Matrix>(v, n, n) = solver.eigenvectors();
    return Outcome::kOk;
  });
}

}  // namespace penstock::kernels
