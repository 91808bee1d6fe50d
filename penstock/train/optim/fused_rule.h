#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "penstock/train/optim/minimize.h"
#include "penstock/train/optim/rule.h"

namespace penstock::optim_internal {

// What an update op reads after the variable and its slots.
struct UpdateInput {
  enum class Kind { kNumber, kRate, kPower, kWeightDecay, kGradient };
  Kind kind;
  double number = 0;  // kNumber
  size_t power = 0;   // kPower: which of FusedUpdate::powers

  static UpdateInput Rate() { return {Kind::kRate}; }
  static UpdateInput Number(double value) { return {Kind::kNumber, value}; }
  static UpdateInput Power(size_t i) { return {Kind::kPower, 0, i}; }
  static UpdateInput WeightDecay() { return {Kind::kWeightDecay}; }
  static UpdateInput Gradient() { return {Kind::kGradient}; }
};

// What becomes of a gradient of rows.
enum class RowsForm {
  kSparseOp,    // the op's sparse form; repeated indices are added up first
  kScatterSub,  // rows times the rate are taken off
  kDense,       // the rule moves all rows whatever the gradient: it is made whole
};

// An optimizer whose update is one node a variable, as data.
struct FusedUpdate {
  struct Slot {
    double initial;
    size_t place;  // among the slots of the op; they are made, and named, in the order of the list
  };
  // A scalar variable, `base` at first, multiplied by `base` after each step.
  struct Power {
    std::string name;
    double base;
  };

  std::string name;  // TensorFlow's, of the optimizer
  std::string op;    // "ResourceApplyAdam"
  Rate rate;
  std::vector<Slot> slots = {};
  std::vector<UpdateInput> inputs;
  AttrMap attrs = {};
  std::vector<Power> powers = {};
  RowsForm rows = RowsForm::kSparseOp;
  WeightDecay decay = {};
  // An attribute that is false for variables whose name contains one of these.
  std::string switch_name = {};
  std::vector<std::string> switched_off = {};
};

class FusedRule final : public Rule {
 public:
  // `checked`: what is wrong with the optimizer's numbers.
  FusedRule(FusedUpdate update, Status checked)
      : update_(std::move(update)), checked_(std::move(checked)) {}

  std::string name() const override { return update_.name; }
  const Rate& rate() const override { return update_.rate; }
  Status Check() const override { return checked_; }
  void Prepare(Graph& graph, const std::vector<Parameter>& parameters, Output<float> rate,
               CallSite site) override;
  std::vector<NodeId> Apply(const Scope& scope, const GradientList& gradients) override;

 private:
  // The scalars of one dtype, each made once: equal inputs let updates go together.
  struct Numbers {
    Expr rate;
    std::vector<Expr> of_inputs;  // by input; invalid for the gradient and the decay
    Expr decay, no_decay;
  };
  Numbers MakeNumbers(const Scope& scope, DType dtype, const std::vector<Expr>& powers) const;
  NodeId ApplyOne(const Scope& scope, const ParameterGradient& item, const Numbers& numbers) const;
  NodeId Scatter(const Scope& scope, const ParameterGradient& item, const Numbers& numbers) const;

  const FusedUpdate update_;
  const Status checked_;
  std::map<NodeId, std::vector<Parameter>> slots_;  // by variable, in the order of the op
  std::vector<Parameter> powers_;
  OutputRef rate_;
};

}  // namespace penstock::optim_internal
