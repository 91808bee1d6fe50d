#include "penstock/kernels/linalg/eigen/svd-inl.h"

namespace penstock::kernels {

template Outcome Svd(const float*, int64_t, int64_t, bool, float*, float*, float*);
template Outcome Svd(const double*, int64_t, int64_t, bool, double*, double*, double*);

}  // namespace penstock::kernels
