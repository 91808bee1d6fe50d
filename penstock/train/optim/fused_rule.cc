#include "penstock/train/optim/fused_rule.h"

#include <algorithm>
#include <string_view>

#include "penstock/train/optim/slots.h"

namespace penstock::optim_internal {
namespace {

// The rows of a gradient with one row an index.
struct Rows {
  Expr values, indices;
};
Rows AddUpRepeated(const Scope& scope, const GradientValue& gradient) {
  const Expr unique = Op("Unique", Expr(&scope, gradient.indices));
  const Expr sums =
      Op("UnsortedSegmentSum", Expr(&scope, gradient.values), unique.Output(1), Op("Size", unique));
  return {sums, unique};
}

bool Contains(const std::string& name, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

}  // namespace

void FusedRule::Prepare(Graph& graph, const std::vector<Parameter>& parameters, Output<float> rate,
                        CallSite site) {
  rate_ = rate.ref();
  for (const FusedUpdate::Power& power : update_.powers)
    powers_.push_back(MakeSlot(graph, {.name = power.name, .initial = power.base}, site));
  for (const Parameter& parameter : parameters) {
    std::vector<Parameter>& slots = slots_[parameter.handle];
    slots.resize(update_.slots.size());
    for (const FusedUpdate::Slot& slot : update_.slots) {
      slots[slot.place] = MakeSlot(graph,
                                   {.name = parameter.name + "/" + update_.name,
                                    .dtype = parameter.dtype,
                                    .shape = parameter.shape,
                                    .initial = slot.initial,
                                    .beside = parameter.handle},
                                   site);
    }
  }
}

FusedRule::Numbers FusedRule::MakeNumbers(const Scope& scope, DType dtype,
                                          const std::vector<Expr>& powers) const {
  using Kind = UpdateInput::Kind;
  // Through a float, as in TensorFlow: the powers are kept as such, and must be those of the betas.
  const auto constant = [&](double value) {
    return CastTo(scope.Constant(Tensor::Scalar(static_cast<float>(value))), dtype);
  };
  Numbers numbers;
  numbers.rate = update_.rate.is_number() ? constant(update_.rate.number())
                                          : CastTo(Expr(&scope, rate_), dtype);
  for (const UpdateInput& input : update_.inputs) {
    Expr& number = numbers.of_inputs.emplace_back();
    if (input.kind == Kind::kNumber) number = constant(input.number);
    if (input.kind == Kind::kRate) number = numbers.rate;
    if (input.kind == Kind::kPower) number = CastTo(powers[input.power], dtype);
    if (input.kind != Kind::kWeightDecay) continue;
    numbers.decay = constant(update_.decay.rate);
    numbers.no_decay = constant(0);
  }
  return numbers;
}

std::vector<NodeId> FusedRule::Apply(const Scope& scope, const GradientList& gradients) {
  std::vector<Expr> powers;
  for (const Parameter& power : powers_) powers.push_back(Read(scope, power));
  std::map<DType, Numbers> numbers;
  std::vector<NodeId> updates;
  for (const ParameterGradient& item : gradients.items) {
    const DType dtype = item.parameter.dtype;
    if (!numbers.contains(dtype)) numbers[dtype] = MakeNumbers(scope, dtype, powers);
    updates.push_back(ApplyOne(scope, item, numbers[dtype]));
  }
  // The next powers, once all updates have read these.
  const Scope after = scope.After(updates);
  for (size_t i = 0; i < powers_.size(); ++i) {
    const Expr next = Expr(&after, powers[i].ref()) * update_.powers[i].base;
    updates.push_back(
        AddUpdateNode(after, "AssignVariableOp", {HandleOf(after, powers_[i]), next}));
  }
  return updates;
}

NodeId FusedRule::ApplyOne(const Scope& scope, const ParameterGradient& item,
                           const Numbers& numbers) const {
  using Kind = UpdateInput::Kind;
  const Scope own = scope.With(item.parameter.handle).Sub("update_" + item.parameter.name);
  const bool by_rows = item.gradient.has_rows() && update_.rows != RowsForm::kDense;
  if (by_rows && update_.rows == RowsForm::kScatterSub) return Scatter(own, item, numbers);
  std::vector<Expr> inputs = {HandleOf(own, item.parameter)};
  for (const Parameter& slot : slots_.at(item.parameter.handle))
    inputs.push_back(HandleOf(own, slot));
  for (size_t i = 0; i < update_.inputs.size(); ++i) {
    const Kind kind = update_.inputs[i].kind;
    if (kind == Kind::kGradient && by_rows) {
      const Rows rows = AddUpRepeated(own, item.gradient);
      inputs.insert(inputs.end(), {rows.values, rows.indices});
    } else if (kind == Kind::kGradient) {
      inputs.push_back(Expr(&own, item.gradient.dense));
    } else if (kind == Kind::kWeightDecay) {
      inputs.push_back(update_.decay.Covers(item.parameter.name) ? numbers.decay
                                                                 : numbers.no_decay);
    } else {
      inputs.push_back(numbers.of_inputs[i]);
    }
  }
  AttrMap attrs = update_.attrs;
  if (!update_.switch_name.empty())
    SetAttr(attrs, update_.switch_name, !Contains(item.parameter.name, update_.switched_off));
  constexpr std::string_view kDense = "ResourceApply";
  std::string op = update_.op;
  if (by_rows) op.replace(op.find(kDense), kDense.size(), "ResourceSparseApply");
  return AddUpdateNode(own, op, inputs, attrs);
}

// Repeated indices need no care: each takes off its own.
NodeId FusedRule::Scatter(const Scope& scope, const ParameterGradient& item,
                          const Numbers& numbers) const {
  const Expr change = Expr(&scope, item.gradient.values) * numbers.rate;
  return AddUpdateNode(
      scope, "ResourceScatterSub",
      {HandleOf(scope, item.parameter), Expr(&scope, item.gradient.indices), change},
      {{"dtype", item.parameter.dtype}});
}

}  // namespace penstock::optim_internal
