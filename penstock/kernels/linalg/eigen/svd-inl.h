// Included by the sources that instantiate Svd, one for each type it is computed in: each takes
// long to compile.

#include <Eigen/SVD>
#include <algorithm>
#include <limits>

#include "penstock/kernels/linalg/guard.h"
#include "penstock/kernels/linalg/wide.h"

namespace penstock::kernels {

template <class T>
Outcome Svd(const T* a, int64_t rows, int64_t cols, bool full, T* s, T* u, T* v) {
  using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Matrix = Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic>;
  using Real = typename Eigen::NumTraits<T>::Real;
  return Guarded([&] {
    const Matrix matrix = Eigen::Map<const Rows>(a, rows, cols).template cast<Wide<T>>();
    const int64_t inner = std::min(rows, cols);
    const int64_t u_cols = full ? rows : inner, v_cols = full ? cols : inner;
    const bool vectors = u != nullptr && v != nullptr;
    if (!matrix.allFinite()) {
      const T nan = std::numeric_limits<Real>::quiet_NaN();
      std::fill_n(s, inner, nan);
      if (vectors) std::fill_n(u, rows * u_cols, nan);
      if (vectors) std::fill_n(v, cols * v_cols, nan);
      return Outcome::kOk;
    }
    const unsigned options = !vectors ? 0
                             : full   ? Eigen::ComputeFullU | Eigen::ComputeFullV
                                      : Eigen::ComputeThinU | Eigen::ComputeThinV;
    const Eigen::BDCSVD<Matrix> svd(matrix, options);
    if (svd.info() != Eigen::Success) return Outcome::kFailed;
    for (int64_t i = 0; i < inner; ++i) s[i] = static_cast<Real>(svd.singularValues()[i]);
    if (vectors) {
      Eigen::Map<Rows>(u, rows, u_cols) = svd.matrixU().template cast<T>();
      Eigen::Map<Rows>(v, cols, v_cols) = svd.matrixV().template cast<T>();
    }
    return Outcome::kOk;
  });
}

}  // namespace penstock::kernels
