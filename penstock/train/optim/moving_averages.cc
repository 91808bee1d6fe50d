#include "penstock/train/optim/moving_averages.h"

#include "penstock/client/build_scope.h"
#include "penstock/train/optim/numbers.h"
#include "penstock/train/optim/slots.h"

namespace penstock {
namespace {

using namespace optim_internal;

// What a variable is initialized to.
OutputRef InitialValue(const Graph& graph, const Parameter& parameter) {
  const auto initializers = graph.collections.find("initializers");
  if (initializers == graph.collections.end()) return {};
  for (const NodeId node : initializers->second) {
    const std::vector<OutputRef>& inputs = graph.node(node).inputs;
    if (inputs.size() == 2 && inputs[0].node == parameter.handle) return inputs[1];
  }
  return {};
}

}  // namespace

MovingAverages::MovingAverages(Graph& graph, const MovingAverageOptions& options, CallSite site)
    : graph_(&graph), options_(options) {
  OrThrow(InUnit("decay", options.decay), site);
  for (const Parameter& parameter : ParametersToTrain(graph, options.variables, site)) {
    const OutputRef initial = InitialValue(graph, parameter);
    if (initial.node == kNoNode)
      throw Error(InvalidArgument("variable {} has no initializer", parameter.name), site);
    const SlotSpec spec{.name = parameter.name + "/ExponentialMovingAverage",
                        .dtype = parameter.dtype,
                        .shape = parameter.shape,
                        .beside = parameter.handle};
    pairs_.push_back({parameter, MakeSlot(graph, spec, initial, site)});
  }
}

Operation MovingAverages::After(Operation operation, CallSite site) const {
  const Scope outer = BuildScope::Current(*graph_, site).Sub("ExponentialMovingAverage");
  const Scope scope = outer.After({operation.node()});
  Expr kept = scope.Constant(Tensor::Scalar(static_cast<float>(options_.decay)));
  if (options_.by_step) {
    const Parameter step = ParameterOf(*graph_, GlobalStep(*graph_).handle());
    const Expr count = CastTo(Read(scope, step), DType::kFloat);
    kept = Op("Minimum", kept, (1.0 + count) / (10.0 + count));
  }
  const Expr rate = 1.0 - kept;
  std::vector<NodeId> moves;
  for (const auto& [variable, average] : pairs_) {
    const Expr way = Read(scope, average) - Read(scope, variable);
    moves.push_back(AddUpdateNode(scope, "AssignSubVariableOp",
                                  {HandleOf(scope, average), way * CastTo(rate, variable.dtype)}));
  }
  OrThrow(scope.status(), site);
  const Scope all = outer.After(moves);
  return Operation(*graph_, OrThrow(all.AddNode({.op = "NoOp", .name = "group"}), site));
}

Operation MovingAverages::Swap(CallSite site) const {
  const Scope scope = BuildScope::Current(*graph_, site).Sub("swap");
  std::vector<NodeId> swaps;
  for (const auto& [variable, average] : pairs_) {
    // Copies, taken before either is given a new value.
    const Expr first = Read(scope, variable), second = Read(scope, average);
    const Scope after = scope.After({first.ref().node, second.ref().node});
    swaps.push_back(AddUpdateNode(after, "AssignVariableOp", {HandleOf(after, variable), second}));
    swaps.push_back(AddUpdateNode(after, "AssignVariableOp", {HandleOf(after, average), first}));
  }
  OrThrow(scope.status(), site);
  const Scope all = scope.After(swaps);
  return Operation(*graph_, OrThrow(all.AddNode({.op = "NoOp", .name = "group"}), site));
}

Parameter MovingAverages::AverageOf(NodeId variable) const {
  for (const Pair& pair : pairs_)
    if (pair.variable.handle == variable) return pair.average;
  throw Error(NotFound("node {} is not a variable with a moving average", variable));
}

std::vector<std::pair<std::string, Parameter>> MovingAverages::VariablesToRestore() const {
  std::vector<std::pair<std::string, Parameter>> names;
  for (const Parameter& parameter : AllVariables(*graph_)) {
    std::string name = parameter.name;
    bool is_average = false;
    for (const auto& [variable, average] : pairs_) {
      if (variable.handle == parameter.handle) name = average.name;
      is_average |= average.handle == parameter.handle;
    }
    if (!is_average) names.emplace_back(name, parameter);
  }
  return names;
}

}  // namespace penstock
