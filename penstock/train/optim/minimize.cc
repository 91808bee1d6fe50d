#include "penstock/train/optim/minimize.h"

#include <algorithm>
#include <optional>

#include "penstock/client/build_scope.h"
#include "penstock/client/control_flow.h"
#include "penstock/core/log.h"
#include "penstock/train/optim/numbers.h"
#include "penstock/train/optim/rule.h"
#include "penstock/train/optim/slots.h"

namespace penstock {

bool WeightDecay::Covers(const std::string& name) const {
  if (rate == 0) return false;
  return std::none_of(exclude.begin(), exclude.end(), [&](const std::string& part) {
    return name.find(part) != std::string::npos;
  });
}

namespace optim_internal {
namespace {

void CheckLoss(const LossValue& loss, CallSite site) {
  if (loss.graph == nullptr || !loss.graph->IsLive(loss.ref.node))
    throw Error(InvalidArgument("the loss is not an output of a graph"), site);
  const OutputInfo& output = loss.graph->output(loss.ref);
  const std::string name = loss.graph->NameOf(loss.ref);
  if (!IsFloating(output.dtype))
    throw Error(
        InvalidArgument("the loss {}: expected a floating type, got {}", name, output.dtype), site);
  if (output.shape.has_rank() && !output.shape.IsScalar())
    throw Error(InvalidArgument("the loss {}: expected a scalar, such as its Mean, got shape {}",
                                name, output.shape),
                site);
}

// loss + penalties.
Expr WithPenalties(const Scope& scope, const LossValue& loss) {
  Expr total(&scope, loss.ref);
  for (const Output<float>& penalty : PenaltiesOf(*loss.graph))
    total = total + CastTo(Expr(&scope, penalty.ref()), total.dtype());
  return total;
}

void ReportUnconnected(const std::string& names, bool any_connected, const LossValue& loss,
                       const MinimizeOptions& options, CallSite site) {
  if (names.empty()) return;
  const Status report =
      InvalidArgument("the loss {} does not depend on: {}", loss.graph->NameOf(loss.ref), names);
  const bool warns =
      options.unconnected == UnconnectedVariables::kWarn ||
      (options.unconnected == UnconnectedVariables::kDefault && options.variables.all());
  if (!warns || !any_connected) throw Error(report, site);
  Log(LogLevel::kWarning, site.ToString() + ": " + report.message() + "; these are not trained");
}

// d(total) / d(variable).
GradientList GradientsOf(const Scope& scope, const LossValue& loss, const Expr& total,
                         const MinimizeOptions& options, CallSite site) {
  Graph& graph = *loss.graph;
  const std::vector<Parameter> parameters = ParametersToTrain(graph, options.variables, site);
  GradientRequest request{.ys = {total.ref()}, .xs = {}};
  for (const Parameter& parameter : parameters) request.xs.push_back({parameter.handle, 0});
  const std::vector<GradientValue> found = OrThrow(AddSparseGradients(scope, request), site);
  GradientList gradients{&graph};
  std::string unconnected;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (found[i].connected()) {
      gradients.items.push_back({parameters[i], found[i]});
    } else {
      unconnected += (unconnected.empty() ? "" : ", ") + parameters[i].name;
    }
  }
  ReportUnconnected(unconnected, !gradients.items.empty(), loss, options, site);
  return gradients;
}

GradientList WithL2(const GradientList& gradients, const WeightDecay& l2, CallSite site) {
  if (l2.rate == 0) return gradients;
  const Scope scope = BuildScope::Current(*gradients.graph, site).Sub("l2");
  GradientList sums = gradients;
  for (ParameterGradient& item : sums.items) {
    if (!l2.Covers(item.parameter.name)) continue;
    const Expr sum = Expr(&scope, item.gradient.dense) + Read(scope, item.parameter) * l2.rate;
    item.gradient = {.dense = sum.ref()};  // every row decays
  }
  OrThrow(scope.status(), site);
  return sums;
}

// Takes rate * decay of the weights off them, after their gradients were computed.
std::vector<NodeId> DecayWeights(const Scope& scope, const GradientList& gradients,
                                 const WeightDecay& decay, Output<float> rate) {
  std::vector<NodeId> decays;
  for (const ParameterGradient& item : gradients.items) {
    if (!decay.Covers(item.parameter.name)) continue;
    const Scope own = scope.With(item.parameter.handle).After(NodesOf(item.gradient));
    const Expr part = CastTo(Expr(&own, rate.ref()) * decay.rate, item.parameter.dtype);
    decays.push_back(
        AddUpdateNode(own, "AssignSubVariableOp",
                      {HandleOf(own, item.parameter), Read(own, item.parameter) * part}));
  }
  return decays;
}

// The updates of a step, and what goes with them.
class Step {
 public:
  Step(const RulePtr& rule, GradientList gradients, const MinimizeOptions& options, CallSite site)
      : rule_(*rule),
        gradients_(std::move(gradients)),
        options_(options),
        site_(site),
        scope_(BuildScope::Current(*gradients_.graph, site).Sub(rule->name())) {
    CheckList(gradients_, site);
    Graph& graph = *gradients_.graph;
    std::vector<Parameter> parameters;
    for (const ParameterGradient& item : gradients_.items) parameters.push_back(item.parameter);
    rate_ = rule_.rate().In(graph);
    if (&rate_.graph() != &graph)
      throw Error(InvalidArgument("the rate is an output of another graph"), site);
    graph.collections["learning_rate"].push_back(rate_.ref().node);
    (void)GlobalStep(graph);  // no branch may be the first to ask for it
    rule_.Prepare(graph, parameters, rate_, site);
  }

  // Where `finite` is given: nothing unless it holds.
  Operation Run(const Output<bool>* finite) {
    if (finite == nullptr) return Update();
    return Cond(
        *finite, [&] { return Update(); },
        [&] {
          return Operation(graph(), client_internal::AddNode(graph(), {.op = "NoOp"}, site_));
        },
        site_);
  }
  // All of these.
  Operation Together(std::vector<Operation> operations) {
    for (const Operation& update : UpdatesOf(graph())) operations.push_back(update);
    NodeSpec spec{.op = "NoOp", .name = rule_.name(), .site = site_};
    for (const Operation& operation : operations) spec.control_inputs.push_back(operation.node());
    return Operation(graph(), client_internal::AddNode(graph(), std::move(spec), site_));
  }

 private:
  Graph& graph() const { return *gradients_.graph; }

  Operation Update() {
    const Scope decayed = scope_.After(DecayWeights(scope_, gradients_, options_.decay, rate_));
    const std::vector<NodeId> updates = rule_.Apply(decayed, gradients_);
    OrThrow(scope_.status(), site_);
    const Scope after = scope_.After(updates);
    const Parameter step = ParameterOf(graph(), GlobalStep(graph()).handle());
    const NodeId count =
        AddUpdateNode(after, "AssignAddVariableOp",
                      {HandleOf(after, step), after.Constant(Tensor::Scalar<int64_t>(1))});
    OrThrow(after.status(), site_);
    return Operation(graph(), count);
  }

  Rule& rule_;
  const GradientList gradients_;
  const MinimizeOptions& options_;
  const CallSite site_;
  const Scope scope_;
  Output<float> rate_;
};

void Check(const Rule& rule, const MinimizeOptions& options, CallSite site) {
  Status status = rule.rate().Check();
  if (status.ok()) status = rule.Check();
  if (status.ok()) status = AtLeast("l2.rate", options.l2.rate, 0);
  if (status.ok()) status = AtLeast("decay.rate", options.decay.rate, 0);
  if (status.ok()) status = options.loss_scale.Check();
  OrThrow(status.Annotate(rule.name()), site);
}

GradientList Unscaled(const GradientList& gradients, const Expr& scale, CallSite site) {
  const Expr inverse = 1.0 / scale;
  GradientList unscaled = gradients;
  for (ParameterGradient& item : unscaled.items)
    item.gradient = Scaled(scale.scope(), item.gradient, inverse);
  OrThrow(scale.scope().status(), site);
  return unscaled;
}

}  // namespace

std::vector<Parameter> ParametersToTrain(Graph& graph, const ChosenVariables& chosen,
                                         CallSite site) {
  std::vector<Parameter> parameters;
  if (chosen.all()) {
    parameters = TrainableVariables(graph);
    // A counter is made trainable by nothing but its maker's silence.
    std::erase_if(parameters, [](const Parameter& p) { return !IsFloating(p.dtype); });
  }
  for (const ChosenVariables::Handle& handle : chosen.handles()) {
    const bool is_foreign = handle.graph != nullptr && handle.graph != &graph;
    if (is_foreign || !graph.IsLive(handle.node) ||
        graph.node(handle.node).op_name() != "VarHandleOp")
      throw Error(InvalidArgument("a variable to train is not one of the loss's graph"), site);
    const Parameter parameter = ParameterOf(graph, handle.node);
    const bool repeats = std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& p) {
      return p.handle == parameter.handle;
    });
    if (repeats) throw Error(InvalidArgument("variable {} was chosen twice", parameter.name), site);
    parameters.push_back(parameter);
  }
  if (parameters.empty()) {
    throw Error(chosen.all() ? InvalidArgument("the graph has no trainable variable")
                             : InvalidArgument("the list of variables to train is empty"),
                site);
  }
  for (const Parameter& parameter : parameters) {
    if (!IsFloating(parameter.dtype))
      throw Error(InvalidArgument("variable {}: only floating types can be trained, got {}",
                                  parameter.name, parameter.dtype),
                  site);
  }
  return parameters;
}

GradientList ComputeGradients(const LossValue& loss, const MinimizeOptions& options,
                              CallSite site) {
  CheckLoss(loss, site);
  const Scope scope = BuildScope::Current(*loss.graph, site);
  const Expr total = WithPenalties(scope, loss);
  OrThrow(scope.status(), site);
  return GradientsOf(scope, loss, total, options, site);
}

Operation ApplyGradients(const RulePtr& rule, const GradientList& gradients, CallSite site) {
  const MinimizeOptions options;
  Check(*rule, options, site);
  Step step(rule, gradients, options, site);
  return step.Together({step.Run(nullptr)});
}

Operation Minimize(const RulePtr& rule, const LossValue& loss, const MinimizeOptions& options,
                   CallSite site) {
  using Kind = LossScale::Kind;
  Check(*rule, options, site);
  CheckLoss(loss, site);
  Graph& graph = *loss.graph;
  const Scope scope = BuildScope::Current(graph, site);
  Expr total = WithPenalties(scope, loss);
  std::optional<DynamicScale> dynamic;
  if (options.loss_scale.kind == Kind::kDynamic) dynamic.emplace(graph, options.loss_scale, site);
  Expr scale;
  if (dynamic) scale = Expr(&scope, dynamic->value().ref());
  if (options.loss_scale.kind == Kind::kStatic)
    scale = scope.Constant(Tensor::Scalar(static_cast<float>(options.loss_scale.initial)));
  if (scale.valid()) total = total * CastTo(scale, total.dtype());
  OrThrow(scope.status(), site);

  GradientList gradients = GradientsOf(scope, loss, total, options, site);
  if (scale.valid()) gradients = Unscaled(gradients, scale, site);
  std::optional<Output<bool>> finite;
  if (dynamic || options.skip_nonfinite) finite = AllFinite(gradients, site);
  gradients = WithL2(ClipGradients(gradients, options.clip, site), options.l2, site);
  Step step(rule, std::move(gradients), options, site);
  std::vector<Operation> operations = {step.Run(finite ? &*finite : nullptr)};
  if (dynamic) operations.push_back(dynamic->Update(*finite));
  return step.Together(std::move(operations));
}

}  // namespace optim_internal
}  // namespace penstock
