#include "penstock/kernels/linalg/eigen/svd-inl.h"

namespace penstock::kernels {

template Outcome Svd(const std::complex<float>*, int64_t, int64_t, bool, std::complex<float>*,
                     std::complex<float>*, std::complex<float>*);
template Outcome Svd(const std::complex<double>*, int64_t, int64_t, bool, std::complex<double>*,
                     std::complex<double>*, std::complex<double>*);

}  // namespace penstock::kernels
