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
FoldKernels FoldInt8(ReduceKind kind) { return FoldTable<int8_t>(kind); }
FoldKernels FoldInt16(ReduceKind kind) { return FoldTable<int16_t>(kind); }
FoldKernels FoldInt32(ReduceKind kind) { return FoldTable<int32_t>(kind); }
FoldKernels FoldInt64(ReduceKind kind) { return FoldTable<int64_t>(kind); }
ArgKernels ArgInt8(ArgKind kind) { return ArgTable<int8_t>(kind); }
ArgKernels ArgInt16(ArgKind kind) { return ArgTable<int16_t>(kind); }
ArgKernels ArgInt32(ArgKind kind) { return ArgTable<int32_t>(kind); }
ArgKernels ArgInt64(ArgKind kind) { return ArgTable<int64_t>(kind); }
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

#define PENSTOCK_REDUCE(T, Name)                                              \
  HWY_EXPORT(Fold##Name);                                                     \
  template <>                                                                 \
  FoldKernels FoldKernelsOf<T>(ReduceKind kind) {                             \
    const bool wraps = kind == ReduceKind::kSum || kind == ReduceKind::kProd; \
    if (wraps) return FoldKernelsOf<std::make_unsigned_t<T>>(kind);           \
    return HWY_DYNAMIC_DISPATCH(Fold##Name)(kind);                            \
  }                                                                           \
  HWY_EXPORT(Arg##Name);                                                      \
  template <>                                                                 \
  ArgKernels ArgKernelsOf<T>(ArgKind kind) {                                  \
    return HWY_DYNAMIC_DISPATCH(Arg##Name)(kind);                             \
  }
PENSTOCK_REDUCE(int8_t, Int8)
PENSTOCK_REDUCE(int16_t, Int16)
PENSTOCK_REDUCE(int32_t, Int32)
PENSTOCK_REDUCE(int64_t, Int64)
#undef PENSTOCK_REDUCE

}  // namespace penstock::kernels
#endif
