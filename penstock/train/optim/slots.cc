#include "penstock/train/optim/slots.h"

#include <utility>

#include "penstock/client/error.h"
#include "penstock/train/optim/gradient_list.h"

namespace penstock::optim_internal {
namespace {

// `spec.initial` in every element, without a constant of that size.
OutputRef Filled(const Scope& scope, const SlotSpec& spec) {
  Tensor dims(DType::kInt64, Shape{spec.shape.rank()});
  for (int i = 0; i < spec.shape.rank(); ++i) dims.mutable_data<int64_t>()[i] = spec.shape.dim(i);
  const Expr value = CastTo(scope.Constant(Tensor::Scalar(spec.initial)), spec.dtype);
  return scope.Add("Fill", {scope.Constant(dims), value}).ref();
}

}  // namespace

Parameter MakeSlot(Graph& graph, const SlotSpec& spec, CallSite site) {
  if (!spec.shape.IsFullyKnown())
    throw Error(InvalidArgument("{}: the shape of the variable must be known, got {}", spec.name,
                                spec.shape),
                site);
  const Scope scope = Scope(graph).At(site).Sub(spec.name + "/Initializer");
  const OutputRef initial = Filled(scope, spec);
  OrThrow(scope.status(), site);
  return MakeSlot(graph, spec, initial, site);
}

Parameter MakeSlot(Graph& graph, const SlotSpec& spec, OutputRef initial, CallSite site) {
  Scope scope = Scope(graph).At(site);
  if (spec.beside != kNoNode)
    scope = scope.With(spec.beside).OnDevice(graph.node(spec.beside).device);
  const std::string name = graph.UniqueName(spec.name);
  const NodeId handle =
      OrThrow(scope.AddNode(
                  {.op = "VarHandleOp",
                   .name = name,
                   .attrs = {{"dtype", spec.dtype}, {"shape", spec.shape}, {"shared_name", name}}}),
              site);
  const NodeId assign = OrThrow(
      scope.AddNode(
          {.op = "AssignVariableOp", .name = name + "/Assign", .inputs = {{handle, 0}, initial}}),
      site);
  graph.collections["variables"].push_back(handle);
  graph.collections["initializers"].push_back(assign);
  return ParameterOf(graph, handle);
}

Expr Read(const Scope& scope, const Parameter& parameter) {
  const Expr value = scope.Add("ReadVariableOp", {HandleOf(scope, parameter)},
                               {{"dtype", parameter.dtype}}, parameter.name + "/Read");
  if (value.valid()) scope.graph().node(value.ref().node).outputs[0].shape = parameter.shape;
  return value;
}

Expr HandleOf(const Scope& scope, const Parameter& parameter) {
  return Expr(&scope, {parameter.handle, 0});
}

NodeId AddUpdateNode(const Scope& scope, std::string op, const std::vector<Expr>& inputs,
                     AttrMap attrs, std::string name) {
  const Expr node = scope.Add(op, inputs, std::move(attrs), name);
  return node.valid() ? node.ref().node : kNoNode;
}

}  // namespace penstock::optim_internal
