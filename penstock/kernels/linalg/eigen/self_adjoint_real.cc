#include "penstock/kernels/linalg/eigen/self_adjoint-inl.h"

namespace penstock::kernels {

template Outcome SelfAdjointEig(const float*, int64_t, float*, float*);
template Outcome SelfAdjointEig(const double*, int64_t, double*, double*);

}  // namespace penstock::kernels
