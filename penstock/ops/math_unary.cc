#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/ops/math_unary.cc"
#include "penstock/kernels/targets.h"
// After targets.h, which it obeys.
#include "hwy/foreach_target.h"
#include "penstock/ops/elementwise-inl.h"
#include "penstock/ops/math_unary.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::ops::HWY_NAMESPACE {
void MathUnaryBlocks(ElementwiseTable& table) { AddVectorBlocks(table, MathUnaryOps()); }
}  // namespace penstock::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "penstock/ops/collections/tensor_list_value.h"

namespace penstock::ops {
namespace {

// A new tensor of strings is one of empty strings.
class EmptyStrings final : public Kernel {
  Status Compute(KernelContext& context) override {
    return context.AllocateOutput(0, DType::kString, context.input(0).shape());
  }
};

// Of a list: a list of zeros.
class ZerosLikeVariants final : public Kernel {
  Status Compute(KernelContext& context) override {
    const Tensor& from = context.input(0);
    TRY_ASSIGN(Tensor zeros, context.Allocate(DType::kVariant, from.shape()));
    for (int64_t i = 0; i < from.num_elements(); ++i) {
      TRY_ASSIGN(zeros.mutable_data<Variant>()[i],
                 ZerosLikeVariant(context, from.data<Variant>()[i]));
    }
    context.SetOutput(0, std::move(zeros));
    return OkStatus();
  }
};

}  // namespace

HWY_EXPORT(MathUnaryBlocks);

Result<std::unique_ptr<Kernel>> ZerosLike::OtherCpuKernel(const ElementwiseTable&,
                                                          const KernelRequest& request) {
  std::unique_ptr<Kernel> kernel;
  if (request.inputs[0] == DType::kString) kernel = std::make_unique<EmptyStrings>();
  if (request.inputs[0] == DType::kVariant) kernel = std::make_unique<ZerosLikeVariants>();
  return kernel;
}

void RegisterMathUnary(Registrar& registrar, ElementwiseTable& table) {
  HWY_DYNAMIC_DISPATCH(MathUnaryBlocks)(table);
  AddPlainBlocks(table, MathUnaryOps());
  AddElementwise(registrar, MathUnaryOps(), table);
}
}  // namespace penstock::ops
#endif
