#include "penstock/train/optim/optimizers.h"

#include "penstock/train/optim/fused_rule.h"
#include "penstock/train/optim/numbers.h"

namespace penstock {
namespace {

using namespace optim_internal;
using Input = UpdateInput;

RulePtr Fused(FusedUpdate update, const Status& checked) {
  return std::make_shared<FusedRule>(std::move(update), checked);
}

Status CheckAdam(double beta1, double beta2, double epsilon) {
  TRY(InUnit("beta1", beta1));
  TRY(InUnit("beta2", beta2));
  return AtLeast("epsilon", epsilon, 0);
}

// What Adam and its relatives read before the gradient.
std::vector<Input> AdamInputs(double beta1, double beta2, double epsilon) {
  return {Input::Power(0),      Input::Power(1),      Input::Rate(),
          Input::Number(beta1), Input::Number(beta2), Input::Number(epsilon)};
}
std::vector<Input> And(std::vector<Input> inputs, std::initializer_list<Input> more) {
  inputs.insert(inputs.end(), more);
  return inputs;
}
std::vector<FusedUpdate::Power> AdamPowers(double beta1, double beta2) {
  return {{"beta1_power", beta1}, {"beta2_power", beta2}};
}

}  // namespace

RulePtr SGD::MakeRule() const {
  return Fused({.name = "GradientDescent",
                .op = "ResourceApplyGradientDescent",
                .rate = rate,
                .inputs = {Input::Rate(), Input::Gradient()},
                .rows = RowsForm::kScatterSub},
               OkStatus());
}

RulePtr Momentum::MakeRule() const {
  return Fused({.name = "Momentum",
                .op = "ResourceApplyMomentum",
                .rate = rate,
                .slots = {{0, 0}},
                .inputs = {Input::Rate(), Input::Gradient(), Input::Number(momentum)},
                .attrs = {{"use_nesterov", nesterov}}},
               InUnit("momentum", momentum));
}

RulePtr Adagrad::MakeRule() const {
  return Fused({.name = "Adagrad",
                .op = "ResourceApplyAdagrad",
                .rate = rate,
                .slots = {{initial_accumulator, 0}},
                .inputs = {Input::Rate(), Input::Gradient()}},
               Positive("initial_accumulator", initial_accumulator));
}

RulePtr Adadelta::MakeRule() const {
  const auto check = [&]() -> Status {
    TRY(InUnit("rho", rho));
    return Positive("epsilon", epsilon);
  };
  return Fused(
      {.name = "Adadelta",
       .op = "ResourceApplyAdadelta",
       .rate = rate,
       .slots = {{0, 0}, {0, 1}},
       .inputs = {Input::Rate(), Input::Number(rho), Input::Number(epsilon), Input::Gradient()}},
      check());
}

RulePtr RMSProp::MakeRule() const {
  const auto check = [&]() -> Status {
    TRY(InUnit("decay", decay));
    TRY(InUnit("momentum", momentum));
    return AtLeast("epsilon", epsilon, 0);
  };
  FusedUpdate update{.name = "RMSProp",
                     .op = "ResourceApplyRMSProp",
                     .rate = rate,
                     .slots = {{1, 0}, {0, 1}},  // mean of squares, momentum
                     .inputs = {Input::Rate(), Input::Number(decay), Input::Number(momentum),
                                Input::Number(epsilon), Input::Gradient()}};
  if (centered) {
    update.op = "ResourceApplyCenteredRMSProp";
    update.slots = {{1, 1}, {0, 0}, {0, 2}};  // mean of squares, mean, momentum
  }
  return Fused(std::move(update), check());
}

RulePtr Adam::MakeRule() const {
  FusedUpdate update{.name = "Adam",
                     .op = "ResourceApplyAdam",
                     .rate = rate,
                     .slots = {{0, 0}, {0, 1}},
                     .inputs = And(AdamInputs(beta1, beta2, epsilon), {Input::Gradient()}),
                     .powers = AdamPowers(beta1, beta2),
                     .rows = RowsForm::kDense};
  if (amsgrad) {
    update.op = "ResourceApplyAdamWithAmsgrad";
    update.slots.push_back({0, 2});
  } else {
    update.attrs = {{"use_nesterov", nesterov}};
  }
  Status status = CheckAdam(beta1, beta2, epsilon);
  if (status.ok() && amsgrad && nesterov)
    status = InvalidArgument("amsgrad and nesterov do not go together");
  return Fused(std::move(update), status);
}

RulePtr AdamW::MakeRule() const {
  const auto check = [&]() -> Status {
    TRY(CheckAdam(beta1, beta2, epsilon));
    return AtLeast("weight_decay", weight_decay, 0);
  };
  return Fused(
      {.name = "AdamW",
       .op = "_ResourceApplyAdamW",
       .rate = rate,
       .slots = {{0, 0}, {0, 1}},
       .inputs = And(AdamInputs(beta1, beta2, epsilon), {Input::WeightDecay(), Input::Gradient()}),
       .powers = AdamPowers(beta1, beta2),
       .rows = RowsForm::kDense,
       .decay = {weight_decay, exclude_from_decay}},
      check());
}

RulePtr Ftrl::MakeRule() const {
  const auto check = [&]() -> Status {
    if (rate.is_number()) TRY(Positive("rate", rate.number()));
    if (!(rate_power <= 0))
      return InvalidArgument("rate_power must not be positive, got {}", rate_power);
    TRY(AtLeast("initial_accumulator", initial_accumulator, 0));
    TRY(AtLeast("l1", l1, 0));
    TRY(AtLeast("l2", l2, 0));
    return AtLeast("l2_shrinkage", l2_shrinkage, 0);
  };
  FusedUpdate update{.name = "Ftrl",
                     .op = "ResourceApplyFtrl",
                     .rate = rate,
                     .slots = {{initial_accumulator, 0}, {0, 1}},
                     .inputs = {Input::Gradient(), Input::Rate(), Input::Number(l1),
                                Input::Number(l2), Input::Number(rate_power)}};
  if (l2_shrinkage > 0) {
    update.op = "ResourceApplyFtrlV2";
    update.inputs.insert(update.inputs.end() - 1, Input::Number(l2_shrinkage));
  }
  return Fused(std::move(update), check());
}

RulePtr LAMB::MakeRule() const {
  const auto check = [&]() -> Status {
    TRY(CheckAdam(beta1, beta2, epsilon));
    return AtLeast("weight_decay", weight_decay, 0);
  };
  return Fused(
      {.name = "LAMB",
       .op = "_ResourceApplyLamb",
       .rate = rate,
       .slots = {{0, 0}, {0, 1}},
       .inputs = And(AdamInputs(beta1, beta2, epsilon), {Input::WeightDecay(), Input::Gradient()}),
       .powers = AdamPowers(beta1, beta2),
       .rows = RowsForm::kDense,
       .decay = {weight_decay, exclude_from_decay},
       .switch_name = "adapt_to_norm",
       .switched_off = exclude_from_adaptation},
      check());
}

}  // namespace penstock
