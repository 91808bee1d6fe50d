#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/ops/math_gradients.cc"
#include "penstock/kernels/targets.h"
// After targets.h, which it obeys.
#include "hwy/foreach_target.h"
#include "penstock/ops/elementwise-inl.h"
#include "penstock/ops/math_gradients.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::ops::HWY_NAMESPACE {
void MathGradientsBlocks(ElementwiseTable& table) { AddVectorBlocks(table, MathGradientOps()); }
}  // namespace penstock::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace penstock::ops {

HWY_EXPORT(MathGradientsBlocks);

void RegisterMathGradients(Registrar& registrar, ElementwiseTable& table) {
  HWY_DYNAMIC_DISPATCH(MathGradientsBlocks)(table);
  AddPlainBlocks(table, MathGradientOps());
  AddElementwise(registrar, MathGradientOps(), table);
}

}  // namespace penstock::ops
#endif
