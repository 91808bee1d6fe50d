#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/ops/logical.cc"
#include "penstock/kernels/targets.h"
// After targets.h, which it obeys.
#include "hwy/foreach_target.h"
#include "penstock/ops/elementwise-inl.h"
#include "penstock/ops/logical.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::ops::HWY_NAMESPACE {
void LogicalBlocks(ElementwiseTable& table) { AddVectorBlocks(table, LogicalOps()); }
}  // namespace penstock::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace penstock::ops {

HWY_EXPORT(LogicalBlocks);

void RegisterLogical(Registrar& registrar, ElementwiseTable& table) {
  HWY_DYNAMIC_DISPATCH(LogicalBlocks)(table);
  AddPlainBlocks(table, LogicalOps());
  AddElementwise(registrar, LogicalOps(), table);
}

}  // namespace penstock::ops
#endif
