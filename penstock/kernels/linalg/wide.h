#pragma once

#include <complex>

namespace penstock::kernels {

// What iterative decompositions are computed in, whatever the type of the matrix: Eigen's templates
// for them take long to compile, and results in float are the better for it.
template <class T>
struct WideOf {
  using Type = double;
};
template <class R>
struct WideOf<std::complex<R>> {
  using Type = std::complex<double>;
};
template <class T>
using Wide = typename WideOf<T>::Type;

}  // namespace penstock::kernels
