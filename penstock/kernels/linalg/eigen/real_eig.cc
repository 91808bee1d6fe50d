#include "penstock/kernels/linalg/real_eig.h"

#include <Eigen/Eigenvalues>

#include "penstock/kernels/linalg/guard.h"

namespace penstock::kernels {

// In double for either type, as kernels/linalg/wide.h has it.
template <class R>
Outcome RealEig(const R* a, int64_t n, std::complex<R>* e, std::complex<R>* v) {
  using Rows = Eigen::Matrix<R, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic>;
  return Guarded([&] {
    const Matrix matrix = Eigen::Map<const Rows>(a, n, n).template cast<double>();
    if (!matrix.allFinite()) return Outcome::kFailed;
    const Eigen::EigenSolver<Matrix> solver(matrix, v != nullptr);
    if (solver.info() != Eigen::Success) return Outcome::kFailed;
    for (int64_t i = 0; i < n; ++i) e[i] = std::complex<R>(solver.eigenvalues()[i]);
    if (v == nullptr) return Outcome::kOk;
    const Eigen::MatrixXcd vectors = solver.eigenvectors();
    for (int64_t i = 0; i < n * n; ++i) v[i] = std::complex<R>(vectors(i / n, i % n));
    return Outcome::kOk;
  });
}

template Outcome RealEig(const float*, int64_t, std::complex<float>*, std::complex<float>*);
template Outcome RealEig(const double*, int64_t, std::complex<double>*, std::complex<double>*);

}  // namespace penstock::kernels
