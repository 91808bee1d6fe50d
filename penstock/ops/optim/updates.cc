#include "penstock/ops/optim/updates.h"

#include <algorithm>
#include <numeric>

#include "penstock/kernels/inline_array.h"
#include "penstock/kernels/scatter.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/optim/update_many.h"

namespace penstock::ops {
namespace {

using kernels::kMostSlots;

Status LockInOrder(std::span<StateVariable* const> variables, std::span<Tensor*> values,
                   FunctionRef<Status()> update) {
  if (variables.empty()) return update();
  return variables[0]->Update([&](Tensor& value) {
    values[0] = &value;
    return LockInOrder(variables.subspan(1), values.subspan(1), update);
  });
}

double NumberIn(const Tensor& tensor) {
  double value = 0;
  (void)ForDType(tensor.dtype(), Types<float, double, half, bfloat16, int64_t>(), [&]<class T>() {
    value = static_cast<double>(tensor.scalar<T>());
    return OkStatus();
  });
  return value;
}

// What this rule's formula needs of its numbers.
Status CheckNumbers(kernels::UpdateRule rule, const kernels::UpdateParameters& parameters) {
  if (rule != kernels::UpdateRule::kFtrl) return OkStatus();
  const auto& values = parameters.values;
  if (!(values[0] > 0)) return InvalidArgument("lr must be positive, got {}", values[0]);
  if (!(values[1] >= 0)) return InvalidArgument("l1 must not be negative, got {}", values[1]);
  if (!(values[2] >= 0)) return InvalidArgument("l2 must not be negative, got {}", values[2]);
  if (!(values[3] >= 0))
    return InvalidArgument("l2_shrinkage must not be negative, got {}", values[3]);
  if (!(values[4] <= 0)) return InvalidArgument("lr_power must not be positive, got {}", values[4]);
  return OkStatus();
}

class UpdateKernel final : public Kernel {
 public:
  UpdateKernel(const UpdateLayout& layout, DType dtype, bool flag)
      : layout_(layout), dtype_(dtype), flag_(flag) {}

  Status Compute(KernelContext& context) override {
    const auto count = static_cast<size_t>(layout_.num_slots);
    std::array<std::shared_ptr<StateVariable>, kMostSlots> variables;
    for (size_t i = 0; i < count; ++i) {
      const Tensor& handle = context.input(static_cast<int>(i));
      TRY_ASSIGN(variables[i], layout_.is_reference ? ReferencedVariable(context, handle, dtype_)
                                                    : FindVariable(context, handle, dtype_));
    }
    TRY(LockVariables(context, {variables.data(), count},
                      [&](std::span<Tensor* const> values) { return Update(context, values); }));
    if (layout_.is_reference) context.SetOutput(0, context.input(0));
    return OkStatus();
  }

 private:
  // Everything is checked before a value is touched.
  Status Update(KernelContext& context, std::span<Tensor* const> values) const {
    std::vector<Shape> shapes;
    for (int i = 0; i < context.num_inputs(); ++i) {
      const bool is_slot = i < layout_.num_slots;
      if (is_slot && !values[static_cast<size_t>(i)]->initialized()) {
        const ResourceHandle& handle = HandleIn(context.input(i));
        return layout_.is_reference ? UninitializedReference(handle)
                                    : UninitializedResource(handle);
      }
      shapes.push_back(is_slot ? values[static_cast<size_t>(i)]->shape()
                               : context.input(i).shape());
    }
    TRY(CheckUpdate(layout_, shapes));

    kernels::Update update;
    update.rule = layout_.rule;
    update.dtype = dtype_;
    TRY_ASSIGN(update.parameters, ReadNumbers(layout_, flag_, [&](size_t i) -> const Tensor& {
                 return context.input(layout_.numbers[i]);
               }));
    Tensor rows;
    if (layout_.is_sparse) {
      TRY_ASSIGN(rows, RowsOf(context, shapes[0]));
    }
    if (shapes[0].num_elements() == 0) return OkStatus();

    for (size_t i = 0; i < values.size(); ++i) {
      TRY(MakeWritable(context, *values[i]));
      update.slots[i] = values[i]->mutable_raw();
    }
    update.gradient = context.input(layout_.gradient).raw();
    if (layout_.is_sparse) {
      kernels::UpdateRows(update, rows.data<int64_t>(), rows.num_elements(),
                          ProductOf(shapes[0], 1, shapes[0].rank()), context.parallel());
    } else {
      kernels::UpdateAll(update, shapes[0].num_elements(), context.parallel());
    }
    return OkStatus();
  }

  Result<Tensor> RowsOf(KernelContext& context, const Shape& shape) const {
    const Tensor& indices = context.input(layout_.gradient + 1);
    TRY_ASSIGN(const Tensor rows, WidenIndices(context, indices));
    const int64_t* at = rows.data<int64_t>();
    const int64_t bad = kernels::FirstOutOfRange(at, rows.num_elements(), shape[0]);
    if (bad >= 0) return IndexOutOfRange(indices.shape(), bad, at[bad], shape[0]);
    return rows;
  }

  const UpdateLayout layout_;
  const DType dtype_;
  const bool flag_;
};

}  // namespace

// Locks in the order of addresses, so that nodes which share variables never wait for each other in
// a ring.
Status LockVariables(KernelContext& context,
                     std::span<const std::shared_ptr<StateVariable>> variables,
                     FunctionRef<Status(std::span<Tensor* const> values)> update) {
  const size_t count = variables.size();
  kernels::InlineArray<size_t, kMostSlots> order(count);
  kernels::InlineArray<StateVariable*, kMostSlots> in_order(count);
  kernels::InlineArray<Tensor*, kMostSlots> locked(count), values(count);
  std::iota(order.data(), order.data() + count, size_t{0});
  std::sort(order.data(), order.data() + count,
            [&](size_t a, size_t b) { return variables[a] < variables[b]; });
  for (size_t i = 0; i < count; ++i) {
    in_order[i] = variables[order[i]].get();
    if (i > 0 && in_order[i] == in_order[i - 1])
      return InvalidArgument("a variable and its slots must be different, got {} for two of them",
                             Printable(HandleIn(context.input(static_cast<int>(order[i]))).name));
  }
  return LockInOrder({in_order.data(), count}, {locked.data(), count}, [&] {
    for (size_t i = 0; i < count; ++i) values[order[i]] = locked[i];
    return update({values.data(), count});
  });
}

Result<kernels::UpdateParameters> ReadNumbers(const UpdateLayout& layout, bool flag,
                                              FunctionRef<const Tensor&(size_t i)> number) {
  kernels::UpdateParameters parameters;
  parameters.flag = flag;
  for (size_t i = 0; i < layout.numbers.size(); ++i)
    parameters.values[static_cast<size_t>(layout.places[i])] = NumberIn(number(i));
  TRY(CheckNumbers(layout.rule, parameters));
  return parameters;
}

Status CheckUpdate(const UpdateLayout& layout, std::span<const Shape> shapes) {
  const Shape& variable = shapes[0];
  for (int i = 1; i < layout.num_slots; ++i) {
    if (!variable.IsCompatibleWith(shapes[static_cast<size_t>(i)]))
      return InvalidArgument("var and its slots must have the same shape: {} vs {}", variable,
                             shapes[static_cast<size_t>(i)]);
  }
  for (const int input : layout.numbers)
    if (shapes[static_cast<size_t>(input)].has_rank() &&
        !shapes[static_cast<size_t>(input)].IsScalar())
      return InvalidArgument("input {} must be a scalar, got shape {}", input,
                             shapes[static_cast<size_t>(input)]);
  const Shape& gradient = shapes[static_cast<size_t>(layout.gradient)];
  if (!layout.is_sparse) {
    if (variable.IsCompatibleWith(gradient)) return OkStatus();
    return InvalidArgument("var and grad must have the same shape: {} vs {}", variable, gradient);
  }
  const Shape& indices = shapes[static_cast<size_t>(layout.gradient) + 1];
  TRY(CheckRankAtLeast(variable, 1, "var"));
  TRY(CheckVector(indices, "indices"));
  if (!variable.has_rank() || !gradient.has_rank()) return OkStatus();
  Shape wanted = variable;
  wanted.set_dim(0, indices.has_rank() ? indices[0] : Shape::kUnknownDim);
  if (wanted.IsCompatibleWith(gradient)) return OkStatus();
  return InvalidArgument("grad must hold a row of var for each index: expected {}, got {}", wanted,
                         gradient);
}

Result<std::unique_ptr<Kernel>> MakeUpdateKernel(const KernelRequest& request,
                                                 const UpdateLayout& layout, bool flag) {
  const DType dtype = request.inputs[static_cast<size_t>(layout.gradient)];
  const bool is_short = dtype == DType::kHalf || dtype == DType::kBfloat16;
  if (!IsFloating(dtype) || (is_short && layout.rule == UpdateRule::kLamb))
    return Unimplemented("no CPU kernel trains a variable of {}", dtype);
  return std::unique_ptr<Kernel>(std::make_unique<UpdateKernel>(layout, dtype, flag));
}

const UpdateLayout* FindElementwiseUpdate(std::string_view op) {
  static constexpr std::pair<std::string_view, UpdateLayout> kLayouts[] = {
      {"ResourceApplyGradientDescent", GradientDescentRule::Layout<false, false>()},
      {"ResourceApplyMomentum", MomentumRule::Layout<false, false>()},
      {"ResourceApplyKerasMomentum", KerasMomentumRule::Layout<false, false>()},
      {"ResourceApplyAdagrad", AdagradRule::Layout<false, false>()},
      {"ResourceApplyAdagradV2", AdagradV2Rule::Layout<false, false>()},
      {"ResourceApplyAdadelta", AdadeltaRule::Layout<false, false>()},
      {"ResourceApplyRMSProp", RmsPropRule::Layout<false, false>()},
      {"ResourceApplyCenteredRMSProp", CenteredRmsPropRule::Layout<false, false>()},
      {"ResourceApplyAdam", AdamRule::Layout<false, false>()},
      {"ResourceApplyAdamWithAmsgrad", AdamWithAmsgradRule::Layout<false, false>()},
      {"_ResourceApplyAdamW", AdamWRule::Layout<false, false>()},
      {"ResourceApplyFtrl", FtrlRule::Layout<false, false>()},
      {"ResourceApplyFtrlV2", FtrlV2Rule::Layout<false, false>()},
  };
  for (const auto& [name, layout] : kLayouts)
    if (name == op) return &layout;
  return nullptr;
}

namespace {

template <class Rule, FixedString Dense, FixedString ResourceDense>
void AddDense(Registrar& registrar) {
  registrar.AddAll<typename Rule::template Dense<Dense>,
                   typename Rule::template ResourceDense<ResourceDense>>();
}
template <class Rule, FixedString Sparse, FixedString ResourceSparse>
void AddSparse(Registrar& registrar) {
  registrar.AddAll<typename Rule::template Sparse<Sparse>,
                   typename Rule::template ResourceSparse<ResourceSparse>>();
}

}  // namespace

// All forms of a rule.
#define PENSTOCK_DENSE(Rule, Name) AddDense<Rule, "Apply" Name, "ResourceApply" Name>(registrar)
#define PENSTOCK_BOTH(Rule, Name) \
  PENSTOCK_DENSE(Rule, Name);     \
  AddSparse<Rule, "SparseApply" Name, "ResourceSparseApply" Name>(registrar)

void RegisterTrainingUpdates(Registrar& registrar) {
  PENSTOCK_DENSE(GradientDescentRule, "GradientDescent");
  PENSTOCK_BOTH(ProximalGradientDescentRule, "ProximalGradientDescent");
  PENSTOCK_BOTH(MomentumRule, "Momentum");
  PENSTOCK_BOTH(AdagradRule, "Adagrad");
  PENSTOCK_BOTH(AdagradV2Rule, "AdagradV2");
  PENSTOCK_BOTH(ProximalAdagradRule, "ProximalAdagrad");
  PENSTOCK_BOTH(AdagradDARule, "AdagradDA");
  PENSTOCK_BOTH(AdadeltaRule, "Adadelta");
  PENSTOCK_BOTH(RmsPropRule, "RMSProp");
  PENSTOCK_BOTH(CenteredRmsPropRule, "CenteredRMSProp");
  PENSTOCK_DENSE(AdamRule, "Adam");
  PENSTOCK_DENSE(AdaMaxRule, "AdaMax");
  PENSTOCK_DENSE(AddSignRule, "AddSign");
  PENSTOCK_DENSE(PowerSignRule, "PowerSign");
  PENSTOCK_BOTH(FtrlRule, "Ftrl");
  PENSTOCK_BOTH(FtrlV2Rule, "FtrlV2");
  registrar.AddAll<KerasMomentumRule::ResourceDense<"ResourceApplyKerasMomentum">,
                   KerasMomentumRule::ResourceSparse<"ResourceSparseApplyKerasMomentum">,
                   AdamWithAmsgradRule::ResourceDense<"ResourceApplyAdamWithAmsgrad">,
                   AdamWRule::ResourceDense<"_ResourceApplyAdamW">,
                   LambRule::ResourceDense<"_ResourceApplyLamb">>();
  registrar.AddAll<UpdateMany>();
}
#undef PENSTOCK_BOTH
#undef PENSTOCK_DENSE

}  // namespace penstock::ops
