#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/ops/comparison.cc"
#include "penstock/kernels/targets.h"
// After targets.h, which it obeys.
#include "hwy/foreach_target.h"
#include "penstock/ops/comparison.h"
#include "penstock/ops/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::ops::HWY_NAMESPACE {
void ComparisonBlocks(ElementwiseTable& table) { AddVectorBlocks(table, ComparisonOps()); }
}  // namespace penstock::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "penstock/ops/elementwise_objects.h"

namespace penstock::ops {

HWY_EXPORT(ComparisonBlocks);

namespace {

Result<Shape> InferEquality(const Shape& x, const Shape& y, bool incompatible_shape_error) {
  if (!incompatible_shape_error && !(x.IsFullyKnown() && y.IsFullyKnown())) return Shape::Unknown();
  Result<Shape> shape = BroadcastShapes(x, y);
  return shape.ok() || incompatible_shape_error ? std::move(shape) : Shape();
}

// Answers for tensors whose shapes do not agree, and leaves the others to `kernel`.
class TolerantKernel final : public Kernel {
 public:
  TolerantKernel(std::unique_ptr<Kernel> kernel, bool answer)
      : kernel_(std::move(kernel)), answer_(answer) {}

  Status Compute(KernelContext& context) override {
    if (BroadcastShapes(context.input(0).shape(), context.input(1).shape()).ok()) {
      return kernel_->Compute(context);
    }
    TRY(context.AllocateOutput(0, DType::kBool, Shape()));
    *context.output(0).mutable_data<bool>() = answer_;
    return OkStatus();
  }

 private:
  const std::unique_ptr<Kernel> kernel_;
  const bool answer_;
};

template <class Op>
void CompareStrings(const void* const* operands, void* result) {
  const auto& x = *static_cast<const std::string*>(operands[0]);
  const auto& y = *static_cast<const std::string*>(operands[1]);
  *static_cast<bool*>(result) = std::is_same_v<Op, Equal> == (x == y);
}

template <class Op>
Result<std::unique_ptr<Kernel>> MakeEqualityKernel(const ElementwiseTable& table,
                                                   const KernelRequest& request) {
  const auto& op = static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
  const DType dtype = request.inputs[0];
  std::unique_ptr<Kernel> kernel;
  if (dtype == DType::kString) {
    TRY_ASSIGN(kernel, MakeObjectKernel(&CompareStrings<Op>, &op_internal::Infer<Op>, request));
  }
  if (op.incompatible_shape_error) return kernel;
  const ElementwiseBlock* block = table.Find(Op::kName, dtype);
  if (kernel == nullptr && block == nullptr) return kernel;
  if (kernel == nullptr) {
    TRY_ASSIGN(kernel, MakeElementwiseKernel(*block, &op_internal::Infer<Op>, request));
  }
  const bool answer = std::is_same_v<Op, NotEqual>;
  return std::unique_ptr<Kernel>(std::make_unique<TolerantKernel>(std::move(kernel), answer));
}

}  // namespace

Result<Shape> Equal::InferShape(const Shape& x, const Shape& y) const {
  return InferEquality(x, y, incompatible_shape_error);
}
Result<Shape> NotEqual::InferShape(const Shape& x, const Shape& y) const {
  return InferEquality(x, y, incompatible_shape_error);
}
Result<std::unique_ptr<Kernel>> Equal::OtherCpuKernel(const ElementwiseTable& table,
                                                      const KernelRequest& request) {
  return MakeEqualityKernel<Equal>(table, request);
}
Result<std::unique_ptr<Kernel>> NotEqual::OtherCpuKernel(const ElementwiseTable& table,
                                                         const KernelRequest& request) {
  return MakeEqualityKernel<NotEqual>(table, request);
}

void RegisterComparison(Registrar& registrar, ElementwiseTable& table) {
  HWY_DYNAMIC_DISPATCH(ComparisonBlocks)(table);
  AddPlainBlocks(table, ComparisonOps());
  AddElementwise(registrar, ComparisonOps(), table);
}

}  // namespace penstock::ops
#endif
