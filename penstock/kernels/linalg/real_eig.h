#pragma once

#include "penstock/kernels/linalg/decompositions.h"

namespace penstock::kernels {

// Eig of a real matrix, whose eigenvalues come in conjugate pairs where they are not real. R is
// float or double.
template <class R>
Outcome RealEig(const R* a, int64_t n, std::complex<R>* e, std::complex<R>* v);

}  // namespace penstock::kernels
