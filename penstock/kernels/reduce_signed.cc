#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/reduce_signed.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/kernels/reduce_fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
FoldKernels ReduceFoldInt8(ReduceKind kind) { return FoldTable<int8_t>(kind); }
FoldKernels ReduceFoldInt16(ReduceKind kind) { return FoldTable<int16_t>(kind); }
FoldKernels ReduceFoldInt32(ReduceKind kind) { return FoldTable<int32_t>(kind); }
FoldKernels ReduceFoldInt64(ReduceKind kind) { return FoldTable<int64_t>(kind); }
ArgKernels ReduceArgInt8(ArgKind kind) { return ArgTable<int8_t>(kind); }
ArgKernels ReduceArgInt16(ArgKind kind) { return ArgTable<int16_t>(kind); }
ArgKernels ReduceArgInt32(ArgKind kind) { return ArgTable<int32_t>(kind); }
ArgKernels ReduceArgInt64(ArgKind kind) { return ArgTable<int64_t>(kind); }
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

#define PENSTOCK_REDUCE(T, Name)                                              \
  HWY_EXPORT(ReduceFold##Name);                                               \
  template <>                                                                 \
  FoldKernels FoldKernelsOf<T>(ReduceKind kind) {                             \
    const bool wraps = kind == ReduceKind::kSum || kind == ReduceKind::kProd; \
    if (wraps) return FoldKernelsOf<std::make_unsigned_t<T>>(kind);           \
    return HWY_DYNAMIC_DISPATCH(ReduceFold##Name)(kind);                      \
  }                                                                           \
  HWY_EXPORT(ReduceArg##Name);                                                \
  template <>                                                                 \
  ArgKernels ArgKernelsOf<T>(ArgKind kind) {                                  \
    return HWY_DYNAMIC_DISPATCH(ReduceArg##Name)(kind);                       \
  }
PENSTOCK_REDUCE(int8_t, Int8)
PENSTOCK_REDUCE(int16_t, Int16)
PENSTOCK_REDUCE(int32_t, Int32)
PENSTOCK_REDUCE(int64_t, Int64)
#undef PENSTOCK_REDUCE

}  // namespace penstock::kernels
#endif
