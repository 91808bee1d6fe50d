#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/ops/math_binary.cc"
#include "penstock/kernels/targets.h"
// After targets.h, which it obeys.
#include "hwy/foreach_target.h"
#include "penstock/ops/elementwise-inl.h"
#include "penstock/ops/math_binary.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::ops::HWY_NAMESPACE {
void MathBinaryBlocks(ElementwiseTable& table) { AddVectorBlocks(table, MathBinaryOps()); }
}  // namespace penstock::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "penstock/ops/elementwise_objects.h"

namespace penstock::ops {
namespace {

// 1 where x is not 0.
Expr IsNotZero(const Expr& x) {
  return Op("Cast", Op("NotEqual", x, x.scope().Like(x, 0)), {{"DstT", x.dtype()}});
}

void Join(const void* const* operands, void* result) {
  const auto& x = *static_cast<const std::string*>(operands[0]);
  const auto& y = *static_cast<const std::string*>(operands[1]);
  *static_cast<std::string*>(result) = x + y;
}

}  // namespace

HWY_EXPORT(MathBinaryBlocks);

Result<std::unique_ptr<Kernel>> Add::OtherCpuKernel(const ElementwiseTable&,
                                                    const KernelRequest& request) {
  if (request.inputs[0] != DType::kString) return std::unique_ptr<Kernel>();
  return MakeObjectKernel(&Join, &op_internal::Infer<Add>, request);
}

std::array<Expr, 2> SplitGradient(const Expr& to_x, const Expr& dz) {
  if (!dz.valid()) return {};
  const Expr zero = dz.scope().Like(dz, 0);
  return {Op("SelectV2", to_x, dz, zero), Op("SelectV2", to_x, zero, dz)};
}

// The logarithm is taken where it exists, so that a false singularity at 0 does not spoil the rest.
std::array<Expr, 2> Pow::Gradient(Expr x, Expr y, Expr z, Expr dz) {
  if (!dz.valid()) return {};
  const Expr base = Conj(x), exponent = Conj(y);
  const Expr zero = x.scope().Like(x, 0), one = x.scope().Like(x, 1);
  const Expr has_log = Op(IsComplex(x.dtype()) ? "NotEqual" : "Greater", base, zero);
  const Expr log = Op("SelectV2", has_log, Op("Log", Op("SelectV2", has_log, base, one)), zero);
  return {dz * exponent * Op("Pow", base, exponent - 1.0), dz * Conj(z) * log};
}

std::array<Expr, 2> Xlogy::Gradient(Expr x, Expr y, Expr, Expr dz) {
  return {Op("Xlogy", IsNotZero(x), y) * dz, Op("Xdivy", x, y) * dz};
}

std::array<Expr, 2> Xlog1py::Gradient(Expr x, Expr y, Expr, Expr dz) {
  return {Op("Xlog1py", IsNotZero(x), y) * dz, Op("Xdivy", x, y + 1.0) * dz};
}

void RegisterMathBinary(Registrar& registrar, ElementwiseTable& table) {
  HWY_DYNAMIC_DISPATCH(MathBinaryBlocks)(table);
  AddPlainBlocks(table, MathBinaryOps());
  AddElementwise(registrar, MathBinaryOps(), table);
}

}  // namespace penstock::ops
#endif
