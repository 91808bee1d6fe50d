#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/ops/math_unary.cc"
#include "penstock/kernels/targets.h"
// After targets.h, which it obeys.
#include "hwy/foreach_target.h"
#include "penstock/ops/elementwise-inl.h"
#include "penstock/ops/math_unary.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::HWY_NAMESPACE {
void MathUnaryBlocks(ElementwiseTable& table) { AddBlocks(table, MathUnaryOps()); }
}  // namespace penstock::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "penstock/ops/register_all.h"

namespace penstock {
HWY_EXPORT(MathUnaryBlocks);

void RegisterMathUnary(Registrar& registrar, ElementwiseTable& table) {
  HWY_DYNAMIC_DISPATCH(MathUnaryBlocks)(table);
  AddElementwise(registrar, MathUnaryOps(), table);
}
}  // namespace penstock
#endif
