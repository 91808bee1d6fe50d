#include "penstock/kernels/pool.h"

#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/pool.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/kernels/pool-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
PoolKernels PoolFloat() { return MakePool<float>(); }
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

PoolKernels OtherPoolKernelsOf(DType dtype);

HWY_EXPORT(PoolFloat);
PoolKernels PoolKernelsOf(DType dtype) {
  return dtype == DType::kFloat ? HWY_DYNAMIC_DISPATCH(PoolFloat)() : OtherPoolKernelsOf(dtype);
}

}  // namespace penstock::kernels
#endif
