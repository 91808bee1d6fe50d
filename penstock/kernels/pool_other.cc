// Pooling of what is not float: rare enough that one instruction set, the baseline, serves.
#include "penstock/kernels/pool-inl.h"

namespace penstock::kernels {

PoolKernels OtherPoolKernelsOf(DType dtype) {
  switch (dtype) {
#define PENSTOCK_POOL(T) \
  case kDTypeOf<T>:      \
    return HWY_STATIC_DISPATCH(MakePool<T>)();
    PENSTOCK_POOL(double)
    PENSTOCK_POOL(half)
    PENSTOCK_POOL(bfloat16)
    PENSTOCK_POOL(int8_t)
    PENSTOCK_POOL(int16_t)
    PENSTOCK_POOL(int32_t)
    PENSTOCK_POOL(int64_t)
    PENSTOCK_POOL(uint8_t)
    PENSTOCK_POOL(uint16_t)
    PENSTOCK_POOL(uint32_t)
    PENSTOCK_POOL(uint64_t)
#undef PENSTOCK_POOL
    default:
      return {};
  }
}

}  // namespace penstock::kernels
