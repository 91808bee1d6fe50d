#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/ops/math_functions.cc"
#include "penstock/kernels/targets.h"
// After targets.h, which it obeys.
#include "hwy/foreach_target.h"
#include "penstock/ops/elementwise-inl.h"
#include "penstock/ops/math_functions.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::ops::HWY_NAMESPACE {
void MathFunctionBlocks(ElementwiseTable& table) { AddVectorBlocks(table, MathFunctionOps()); }
}  // namespace penstock::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace penstock::ops {

HWY_EXPORT(MathFunctionBlocks);

void RegisterMathFunctions(Registrar& registrar, ElementwiseTable& table) {
  HWY_DYNAMIC_DISPATCH(MathFunctionBlocks)(table);
  AddPlainBlocks(table, MathFunctionOps());
  AddElementwise(registrar, MathFunctionOps(), table);
}
}  // namespace penstock::ops
#endif
