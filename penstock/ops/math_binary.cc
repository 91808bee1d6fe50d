#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/ops/math_binary.cc"
#include "penstock/kernels/targets.h"
// After targets.h, which it obeys.
#include "hwy/foreach_target.h"
#include "penstock/ops/elementwise-inl.h"
#include "penstock/ops/math_binary.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::HWY_NAMESPACE {
void MathBinaryBlocks(ElementwiseTable& table) { AddBlocks(table, MathBinaryOps()); }
}  // namespace penstock::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "penstock/ops/register_all.h"

namespace penstock {
HWY_EXPORT(MathBinaryBlocks);

void RegisterMathBinary(Registrar& registrar, ElementwiseTable& table) {
  HWY_DYNAMIC_DISPATCH(MathBinaryBlocks)(table);
  AddElementwise(registrar, MathBinaryOps(), table);
}
}  // namespace penstock
#endif
