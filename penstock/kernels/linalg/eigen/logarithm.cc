#include "penstock/kernels/linalg/eigen/functions-inl.h"

namespace penstock::kernels {

template <class T>
Outcome MatrixLogarithm(const T* a, int64_t n, T* out) {
  return ApplyFunction(a, n, out,
                       [](const ComplexMatrix& matrix) { return ComplexMatrix(matrix.log()); });
}

template Outcome MatrixLogarithm(const std::complex<float>*, int64_t, std::complex<float>*);
template Outcome MatrixLogarithm(const std::complex<double>*, int64_t, std::complex<double>*);

}  // namespace penstock::kernels
