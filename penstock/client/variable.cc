#include "penstock/client/variable.h"

namespace penstock {
namespace client_internal {

NodeId AddVariable(Graph& graph, DType dtype, OutputRef initial, std::string_view name,
                   bool trainable, CallSite site) {
  NodeSpec handle;
  handle.op = "VarHandleOp";
  handle.name = name;
  handle.attrs = {{"dtype", dtype}, {"shape", graph.output(initial).shape}};
  const NodeId node = AddNode(graph, std::move(handle), site);
  // State is shared by name: two variables of one graph never meet.
  SetAttr(graph.node(node).attrs, "shared_name", graph.node(node).name);
  graph.node(node).decoded = OrThrow(graph.Redecode(node), site);
  graph.collections["variables"].push_back(node);
  if (trainable) graph.collections["trainable_variables"].push_back(node);
  graph.collections["initializers"].push_back(
      UpdateVariable(graph, "AssignVariableOp", node, initial, site));
  return node;
}

OutputRef ReadVariable(Graph& graph, NodeId handle, DType dtype, const Shape& shape,
                       CallSite site) {
  NodeSpec read;
  read.op = "ReadVariableOp";
  read.name = graph.node(handle).name + "/Read";
  read.inputs = {{handle, 0}};
  read.attrs = {{"dtype", dtype}};
  const NodeId node = AddNode(graph, std::move(read), site);
  graph.node(node).outputs[0].shape = shape;
  return {node, 0};
}

NodeId UpdateVariable(Graph& graph, std::string_view op, NodeId handle, OutputRef value,
                      CallSite site) {
  NodeSpec update;
  update.op = op;
  update.name = graph.node(handle).name + "/" + std::string(op);
  update.inputs = {{handle, 0}, value};
  return AddNode(graph, std::move(update), site);
}

Shape VariableShape(const Graph& graph, NodeId handle, DType dtype, CallSite site) {
  if (!graph.IsLive(handle) || graph.node(handle).op_name() != "VarHandleOp")
    throw Error(InvalidArgument("node {} is not a variable's handle", handle), site);
  const AttrMap& attrs = graph.node(handle).attrs;
  const AttrValue* actual = FindAttr(attrs, "dtype");
  if (actual == nullptr || *actual->Get<DType>() != dtype) {
    throw Error(
        InvalidArgument("variable {}: expected elements of {}", graph.Describe(handle), dtype),
        site);
  }
  const AttrValue* shape = FindAttr(attrs, "shape");
  return shape == nullptr ? Shape::Unknown() : *shape->Get<Shape>();
}

}  // namespace client_internal

Operation Group(const std::vector<Operation>& operations, CallSite site) {
  if (operations.empty())
    throw Error(InvalidArgument("a group needs at least one operation"), site);
  Graph& graph = operations.front().graph();
  NodeSpec spec;
  spec.op = "NoOp";
  spec.name = "group";
  for (const Operation& operation : operations) spec.control_inputs.push_back(operation.node());
  return Operation(graph, client_internal::AddNode(graph, std::move(spec), site));
}

Operation InitVariables(Graph& graph, CallSite site) {
  NodeSpec spec;
  spec.op = "NoOp";
  spec.name = "init";
  spec.control_inputs = graph.collections["initializers"];
  return Operation(graph, client_internal::AddNode(graph, std::move(spec), site));
}

}  // namespace penstock
