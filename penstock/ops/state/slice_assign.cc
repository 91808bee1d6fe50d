#include "penstock/ops/state/slice_assign.h"

#include "penstock/ops/slice.h"
#include "penstock/ops/strided_copy.h"
#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

SliceMasks MasksOf(const auto& op) {
  return {op.begin_mask, op.end_mask, op.ellipsis_mask, op.new_axis_mask, op.shrink_axis_mask};
}

// The part that is assigned; checks that `value` has its shape. Shapes may be partial.
Result<SlicePlan> PlanAssignment(const Shape& variable, const Integers& begin, const Integers& end,
                                 const Integers& strides, const Shape& value,
                                 const SliceMasks& masks) {
  TRY_ASSIGN(const int64_t count, SliceEntryCount(begin, end, strides));
  if (!variable.has_rank() || count < 0) return SlicePlan{{}, {}, {}, Shape::Unknown()};
  TRY_ASSIGN(SlicePlan plan, PlanSlice(variable, begin, end, strides, count, masks));
  if (plan.shape.IsCompatibleWith(value)) return plan;
  return Unimplemented(
      "sliced l-value shape {} does not match r-value shape {}. Automatic broadcasting not yet "
      "implemented.",
      plan.shape, value);
}

Integers IntegersOf(const Tensor& tensor) {
  return Integers(Known{&tensor.shape(), tensor.dtype(), &tensor, nullptr});
}

class SliceAssignKernel final : public Kernel {
 public:
  SliceAssignKernel(const SliceMasks& masks, DType dtype, bool is_reference)
      : masks_(masks), dtype_(dtype), is_reference_(is_reference) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
               FindVariable(context, context.input(0), dtype_));
    TRY(variable->Update([&](Tensor& value) { return Update(context, value); }));
    if (is_reference_) context.SetOutput(0, context.input(0));
    return OkStatus();
  }

 private:
  Status Update(KernelContext& context, Tensor& value) const {
    if (!value.initialized()) {
      const ResourceHandle& handle = HandleIn(context.input(0));
      return is_reference_ ? UninitializedReference(handle) : UninitializedResource(handle);
    }
    const Tensor part = context.input(4);
    TRY_ASSIGN(
        const SlicePlan plan,
        PlanAssignment(value.shape(), IntegersOf(context.input(1)), IntegersOf(context.input(2)),
                       IntegersOf(context.input(3)), part.shape(), masks_));
    if (part.num_elements() == 0) return OkStatus();
    TRY(MakeWritable(context, value));
    CopyElements(part, DensePart(plan.sizes), value, SlicedPart(value.shape(), plan), plan.sizes,
                 context.parallel());
    return OkStatus();
  }

  const SliceMasks masks_;
  const DType dtype_;
  const bool is_reference_;
};

template <class Op>
Result<std::unique_ptr<Kernel>> MakeSliceAssignKernel(const KernelRequest& request,
                                                      bool is_reference) {
  const Op& op = static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
  return std::unique_ptr<Kernel>(
      std::make_unique<SliceAssignKernel>(MasksOf(op), request.inputs[4], is_reference));
}

}  // namespace

Result<Shape> StridedSliceAssign::InferShape(const Shape& ref, const Integers& begin,
                                             const Integers& end, const Integers& strides,
                                             const Shape& value) const {
  TRY(PlanAssignment(ref, begin, end, strides, value, MasksOf(*this)));
  return ref;
}

Result<std::unique_ptr<Kernel>> StridedSliceAssign::MakeCpuKernel(const KernelRequest& request) {
  return MakeSliceAssignKernel<StridedSliceAssign>(request, true);
}

Result<std::vector<Shape>> ResourceStridedSliceAssign::InferShape(const Handle& ref,
                                                                  const Integers& begin,
                                                                  const Integers& end,
                                                                  const Integers& strides,
                                                                  const Shape& value) const {
  TRY(PlanAssignment(ref.value_shape, begin, end, strides, value, MasksOf(*this)));
  return std::vector<Shape>();
}

Result<std::unique_ptr<Kernel>> ResourceStridedSliceAssign::MakeCpuKernel(
    const KernelRequest& request) {
  return MakeSliceAssignKernel<ResourceStridedSliceAssign>(request, false);
}

void RegisterStateSlice(Registrar& registrar) {
  registrar.AddAll<StridedSliceAssign, ResourceStridedSliceAssign>();
}

}  // namespace penstock::ops
