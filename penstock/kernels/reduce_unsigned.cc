#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/reduce_unsigned.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/kernels/reduce_fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
FoldKernels ReduceFoldUint8(ReduceKind kind) { return FoldTable<uint8_t>(kind); }
FoldKernels ReduceFoldUint16(ReduceKind kind) { return FoldTable<uint16_t>(kind); }
FoldKernels ReduceFoldUint32(ReduceKind kind) { return FoldTable<uint32_t>(kind); }
FoldKernels ReduceFoldUint64(ReduceKind kind) { return FoldTable<uint64_t>(kind); }
FoldKernels ReduceFoldBool(ReduceKind kind) {
  if (kind == ReduceKind::kAll) return MakeFold<AllOp, Truth, uint8_t>();
  if (kind == ReduceKind::kAny) return MakeFold<AnyOp, Truth, uint8_t>();
  return {};
}
ArgKernels ReduceArgUint8(ArgKind kind) { return ArgTable<uint8_t>(kind); }
ArgKernels ReduceArgUint16(ArgKind kind) { return ArgTable<uint16_t>(kind); }
ArgKernels ReduceArgUint32(ArgKind kind) { return ArgTable<uint32_t>(kind); }
ArgKernels ReduceArgUint64(ArgKind kind) { return ArgTable<uint64_t>(kind); }
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

#define PENSTOCK_REDUCE(T, Name)                         \
  HWY_EXPORT(ReduceFold##Name);                          \
  template <>                                            \
  FoldKernels FoldKernelsOf<T>(ReduceKind kind) {        \
    return HWY_DYNAMIC_DISPATCH(ReduceFold##Name)(kind); \
  }                                                      \
  HWY_EXPORT(ReduceArg##Name);                           \
  template <>                                            \
  ArgKernels ArgKernelsOf<T>(ArgKind kind) {             \
    return HWY_DYNAMIC_DISPATCH(ReduceArg##Name)(kind);  \
  }
PENSTOCK_REDUCE(uint8_t, Uint8)
PENSTOCK_REDUCE(uint16_t, Uint16)
PENSTOCK_REDUCE(uint32_t, Uint32)
PENSTOCK_REDUCE(uint64_t, Uint64)
#undef PENSTOCK_REDUCE

HWY_EXPORT(ReduceFoldBool);
template <>
FoldKernels FoldKernelsOf<bool>(ReduceKind kind) {
  return HWY_DYNAMIC_DISPATCH(ReduceFoldBool)(kind);
}
// The bytes of bools order as they do.
template <>
ArgKernels ArgKernelsOf<bool>(ArgKind kind) {
  return ArgKernelsOf<uint8_t>(kind);
}

}  // namespace penstock::kernels
#endif
