#include "penstock/kernels/linalg/eigen/self_adjoint-inl.h"

namespace penstock::kernels {

template Outcome SelfAdjointEig(const std::complex<float>*, int64_t, std::complex<float>*,
                                std::complex<float>*);
template Outcome SelfAdjointEig(const std::complex<double>*, int64_t, std::complex<double>*,
                                std::complex<double>*);

}  // namespace penstock::kernels
