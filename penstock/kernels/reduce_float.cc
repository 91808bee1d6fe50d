#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/reduce_float.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/kernels/reduce_fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
FoldKernels ReduceFoldFloat(ReduceKind kind) { return FoldTable<float>(kind); }
FoldKernels ReduceFoldDouble(ReduceKind kind) { return FoldTable<double>(kind); }
FoldKernels ReduceFoldHalf(ReduceKind kind) { return FoldTable<half>(kind); }
FoldKernels ReduceFoldBfloat16(ReduceKind kind) { return FoldTable<bfloat16>(kind); }
FoldKernels ReduceFoldComplex64(ReduceKind kind) { return FoldTable<complex64>(kind); }
FoldKernels ReduceFoldComplex128(ReduceKind kind) { return FoldTable<complex128>(kind); }
ArgKernels ReduceArgFloat(ArgKind kind) { return ArgTable<float>(kind); }
ArgKernels ReduceArgDouble(ArgKind kind) { return ArgTable<double>(kind); }
ArgKernels ReduceArgHalf(ArgKind kind) { return ArgTable<half>(kind); }
ArgKernels ReduceArgBfloat16(ArgKind kind) { return ArgTable<bfloat16>(kind); }
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

#define PENSTOCK_FOLD(T, Name)                           \
  HWY_EXPORT(ReduceFold##Name);                          \
  template <>                                            \
  FoldKernels FoldKernelsOf<T>(ReduceKind kind) {        \
    return HWY_DYNAMIC_DISPATCH(ReduceFold##Name)(kind); \
  }
#define PENSTOCK_ARG(T, Name)                           \
  HWY_EXPORT(ReduceArg##Name);                          \
  template <>                                           \
  ArgKernels ArgKernelsOf<T>(ArgKind kind) {            \
    return HWY_DYNAMIC_DISPATCH(ReduceArg##Name)(kind); \
  }
PENSTOCK_FOLD(float, Float)
PENSTOCK_FOLD(double, Double)
PENSTOCK_FOLD(half, Half)
PENSTOCK_FOLD(bfloat16, Bfloat16)
PENSTOCK_FOLD(complex64, Complex64)
PENSTOCK_FOLD(complex128, Complex128)
PENSTOCK_ARG(float, Float)
PENSTOCK_ARG(double, Double)
PENSTOCK_ARG(half, Half)
PENSTOCK_ARG(bfloat16, Bfloat16)
#undef PENSTOCK_FOLD
#undef PENSTOCK_ARG

}  // namespace penstock::kernels
#endif
