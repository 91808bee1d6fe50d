// The vector of an instruction set, at most a panel wide.
#if defined(PENSTOCK_KERNELS_WINOGRAD_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_KERNELS_WINOGRAD_VECTOR_INL_H_
#undef PENSTOCK_KERNELS_WINOGRAD_VECTOR_INL_H_
#else
#define PENSTOCK_KERNELS_WINOGRAD_VECTOR_INL_H_
#endif

#include "hwy/highway.h"
#include "penstock/core/scalar_function.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::winograd::HWY_NAMESPACE {
namespace {

constexpr int kVectorBytes = HWY_MAX_BYTES < 64 ? HWY_MAX_BYTES : 64;
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(float));
typedef float Vector __attribute__((vector_size(kVectorBytes), aligned(sizeof(float)), may_alias));

PENSTOCK_SCALAR const Vector& At(const float* p) { return *reinterpret_cast<const Vector*>(p); }
PENSTOCK_SCALAR Vector& At(float* p) { return *reinterpret_cast<Vector*>(p); }

}  // namespace
}  // namespace penstock::kernels::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
