#include "penstock/kernels/linalg/eigen/functions-inl.h"

namespace penstock::kernels {

template <class T>
Outcome MatrixSquareRoot(const T* a, int64_t n, T* out) {
  return ApplyFunction(a, n, out,
                       [](const ComplexMatrix& matrix) { return ComplexMatrix(matrix.sqrt()); });
}

template Outcome MatrixSquareRoot(const float*, int64_t, float*);
template Outcome MatrixSquareRoot(const double*, int64_t, double*);
template Outcome MatrixSquareRoot(const std::complex<float>*, int64_t, std::complex<float>*);
template Outcome MatrixSquareRoot(const std::complex<double>*, int64_t, std::complex<double>*);

}  // namespace penstock::kernels
