#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/ops/activation.cc"
#include "penstock/kernels/targets.h"
// After targets.h, which it obeys.
#include "hwy/foreach_target.h"
#include "penstock/ops/activation.h"
#include "penstock/ops/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::ops::HWY_NAMESPACE {
void ActivationBlocks(ElementwiseTable& table) { AddVectorBlocks(table, ActivationOps()); }
}  // namespace penstock::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace penstock::ops {

HWY_EXPORT(ActivationBlocks);

void RegisterActivation(Registrar& registrar, ElementwiseTable& table) {
  HWY_DYNAMIC_DISPATCH(ActivationBlocks)(table);
  AddPlainBlocks(table, ActivationOps());
  AddElementwise(registrar, ActivationOps(), table);
}

}  // namespace penstock::ops
#endif
