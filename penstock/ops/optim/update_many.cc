#include "penstock/ops/optim/update_many.h"

namespace penstock::ops {
namespace {

// As many of each input as the rule of `op` takes.
Status CheckCounts(const UpdateLayout& layout, size_t slots, size_t numbers, size_t gradients) {
  if (numbers != layout.numbers.size())
    return InvalidArgument("the rule takes {} numbers, got {}", layout.numbers.size(), numbers);
  if (slots != gradients * static_cast<size_t>(layout.num_slots))
    return InvalidArgument("{} gradients need {} variables each, got {}", gradients,
                           layout.num_slots, slots);
  return OkStatus();
}

class UpdateManyKernel final : public Kernel {
 public:
  UpdateManyKernel(const UpdateLayout& layout, DType dtype, bool flag, size_t count)
      : layout_(layout), dtype_(dtype), flag_(flag), count_(count) {}

  Status Compute(KernelContext& context) override {
    std::vector<std::shared_ptr<StateVariable>> variables(count_ * slots());
    for (size_t i = 0; i < variables.size(); ++i) {
      TRY_ASSIGN(variables[i], FindVariable(context, context.input(static_cast<int>(i)), dtype_));
    }
    return LockVariables(context, variables,
                         [&](std::span<Tensor* const> values) { return Update(context, values); });
  }

 private:
  size_t slots() const { return static_cast<size_t>(layout_.num_slots); }
  const Tensor& number(KernelContext& context, size_t i) const {
    return context.input(static_cast<int>(count_ * slots() + i));
  }
  const Tensor& gradient(KernelContext& context, size_t i) const {
    return context.input(static_cast<int>(count_ * slots() + layout_.numbers.size() + i));
  }

  // Everything is checked before a value is touched.
  Status Update(KernelContext& context, std::span<Tensor* const> values) const {
    for (size_t i = 0; i < count_; ++i) TRY(Check(context, i, values.subspan(i * slots())));
    kernels::Update common{.rule = layout_.rule, .dtype = dtype_, .parameters = {}};
    TRY_ASSIGN(common.parameters, ReadNumbers(layout_, flag_, [&](size_t i) -> const Tensor& {
                 return number(context, i);
               }));
    for (Tensor* value : values) TRY(MakeWritable(context, *value));
    std::vector<kernels::SizedUpdate> updates(count_, {common, 0});
    for (size_t i = 0; i < count_; ++i) {
      for (size_t slot = 0; slot < slots(); ++slot)
        updates[i].update.slots[slot] = values[i * slots() + slot]->mutable_raw();
      updates[i].update.gradient = gradient(context, i).raw();
      updates[i].n = values[i * slots()]->num_elements();
    }
    kernels::UpdateMany(updates, context.parallel());
    return OkStatus();
  }

  // Variable i, as a node of its own would.
  Status Check(KernelContext& context, size_t i, std::span<Tensor* const> values) const {
    std::vector<Shape> shapes(slots() + layout_.numbers.size() + 1);
    for (size_t slot = 0; slot < slots(); ++slot) {
      if (!values[slot]->initialized())
        return UninitializedResource(HandleIn(context.input(static_cast<int>(i * slots() + slot))));
      shapes[slot] = values[slot]->shape();
    }
    for (size_t k = 0; k < layout_.numbers.size(); ++k)
      shapes[static_cast<size_t>(layout_.numbers[k])] = number(context, k).shape();
    shapes[static_cast<size_t>(layout_.gradient)] = gradient(context, i).shape();
    return CheckUpdate(layout_, shapes);
  }

  const UpdateLayout& layout_;
  const DType dtype_;
  const bool flag_;
  const size_t count_;
};

}  // namespace

Status UpdateMany::CheckAttrs() const {
  if (FindElementwiseUpdate(op) != nullptr) return OkStatus();
  return InvalidArgument("updates by {} cannot be taken together", Printable(op));
}

Result<std::vector<Shape>> UpdateMany::InferShape(std::span<const Known> slots,
                                                  std::span<const Known> numbers,
                                                  std::span<const Known> grads) const {
  TRY(CheckAttrs());
  TRY(CheckCounts(*FindElementwiseUpdate(op), slots.size(), numbers.size(), grads.size()));
  return std::vector<Shape>();
}

Result<std::unique_ptr<Kernel>> UpdateMany::MakeCpuKernel(const KernelRequest& request) {
  const auto& decoded = *static_cast<const op_internal::Decoded<UpdateMany>*>(request.op.get());
  const UpdateLayout* layout = FindElementwiseUpdate(decoded.op.op);
  const DType dtype = request.inputs.back();
  if (layout == nullptr || !IsFloating(dtype))
    return Unimplemented("no CPU kernel trains variables of {} by {}", dtype,
                         Printable(decoded.op.op));
  const auto count = static_cast<size_t>(decoded.InputCount(2));
  TRY(CheckCounts(*layout, static_cast<size_t>(decoded.InputCount(0)),
                  static_cast<size_t>(decoded.InputCount(1)), count));
  return std::unique_ptr<Kernel>(
      std::make_unique<UpdateManyKernel>(*layout, dtype, decoded.op.flag, count));
}

}  // namespace penstock::ops
