#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/ops/division.cc"
#include "penstock/kernels/targets.h"
// After targets.h, which it obeys.
#include "hwy/foreach_target.h"
#include "penstock/ops/division.h"
#include "penstock/ops/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::ops::HWY_NAMESPACE {
void DivisionBlocks(ElementwiseTable& table) { AddVectorBlocks(table, DivisionOps()); }
}  // namespace penstock::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace penstock::ops {

HWY_EXPORT(DivisionBlocks);

std::array<Expr, 2> Xdivy::Gradient(Expr x, Expr y, Expr, Expr dz) {
  if (!dz.valid()) return {};
  const Expr is_not_zero =
      Op("Cast", Op("NotEqual", x, x.scope().Like(x, 0)), {{"DstT", x.dtype()}});
  return {Op("Xdivy", is_not_zero, y) * dz, Op("Xdivy", -x, Op("Square", y)) * dz};
}

void RegisterDivision(Registrar& registrar, ElementwiseTable& table) {
  HWY_DYNAMIC_DISPATCH(DivisionBlocks)(table);
  AddPlainBlocks(table, DivisionOps());
  AddElementwise(registrar, DivisionOps(), table);
}

}  // namespace penstock::ops
#endif
