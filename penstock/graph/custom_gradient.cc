#include "penstock/graph/custom_gradient.h"

#include "penstock/graph/function_call.h"
#include "penstock/graph/gradients.h"

namespace penstock {
namespace {

AttrValue ListOf(const std::vector<DType>& types) {
  return types.empty() ? AttrValue(AttrValue::EmptyList{}) : AttrValue(types);
}

std::vector<DType> TypesOf(const Graph& graph, const std::vector<OutputRef>& refs) {
  std::vector<DType> types;
  for (const OutputRef& ref : refs) types.push_back(graph.output(ref).dtype);
  return types;
}

// What a gradient function of `arity` arguments is called with.
std::vector<OutputRef> InputsFor(const Gradients& g, size_t arity) {
  std::vector<OutputRef> inputs;
  for (int i = 0; i < g.num_inputs(); ++i) inputs.push_back(g.input(i).ref());
  if (arity == static_cast<size_t>(g.num_inputs() + 2 * g.num_outputs())) {
    for (int i = 0; i < g.num_outputs(); ++i) inputs.push_back(g.output(i).ref());
  }
  for (int i = 0; i < g.num_outputs(); ++i) inputs.push_back(g.dy(i).ref());
  return inputs;
}

}  // namespace

Status CallGradientFunction(Gradients& g, const FunctionName& gradient) {
  Graph& graph = g.scope().graph();
  TRY_ASSIGN(const FunctionDef* def, FindFunction(graph.library(), gradient.name));
  TRY_ASSIGN(const NodeTypes types, FunctionTypes(*def, gradient.attrs));
  NodeSpec spec;
  spec.inputs = InputsFor(g, types.inputs.size());
  TRY(g.scope().status());
  const std::vector<DType> given = TypesOf(graph, spec.inputs);
  if (types.inputs != given || static_cast<int>(types.outputs.size()) > g.num_inputs()) {
    return InvalidArgument(
        "the gradient function {} takes {} values and returns {}: it does not fit a call of {} "
        "arguments and {} results of these types",
        gradient.name, types.inputs.size(), types.outputs.size(), g.num_inputs(), g.num_outputs());
  }
  spec.op = def->signature.is_stateful ? "StatefulPartitionedCall" : "PartitionedCall";
  spec.attrs = {{"Tin", ListOf(given)}, {"Tout", ListOf(types.outputs)}, {"f", gradient}};
  TRY_ASSIGN(const NodeId call, g.scope().AddNode(std::move(spec)));
  for (int i = 0; i < static_cast<int>(types.outputs.size()); ++i) {
    const OutputInfo& input = graph.output(g.input(i).ref());
    if (!IsDifferentiable(input.dtype)) continue;
    if (types.outputs[i] != input.dtype) {
      return InvalidArgument("the gradient function {} returns {} for an argument of {}",
                             gradient.name, types.outputs[i], input.dtype);
    }
    graph.node(call).outputs[i].shape = input.shape;
    g.Set(i, Expr(&g.scope(), {call, i}));
  }
  return OkStatus();
}

}  // namespace penstock
