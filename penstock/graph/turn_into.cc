#include "penstock/graph/turn_into.h"

#include "penstock/graph/node_check.h"

namespace penstock {

Status TurnIntoConst(Graph& graph, NodeId id, const Tensor& value) {
  const OpInfo* op = graph.registry().Find("Const");
  if (op == nullptr) return Internal("the registry has no op Const");
  AttrMap attrs{{"value", value}, {"dtype", value.dtype()}};
  Node& node = graph.node(id);
  if (const AttrValue* colocation = FindAttr(node.attrs, "_class")) {
    attrs.emplace_back("_class", *colocation);
  }
  TRY_ASSIGN(const NodeTypes types, ExpandTypes(op->def, attrs));
  TRY_ASSIGN(DecodedOp decoded, op->decode(attrs, types));
  node.op = op;
  node.inputs.clear();
  node.control_inputs.clear();
  node.attrs = std::move(attrs);
  node.decoded = std::move(decoded);
  node.outputs.assign(1, {value.dtype(), false, value.shape()});
  node.extra = nullptr;
  return OkStatus();
}

Status TurnIntoIdentity(Graph& graph, NodeId id, OutputRef value) {
  Node& node = graph.node(id);
  node.op = graph.registry().Find("Identity");
  if (node.op == nullptr) return Internal("the registry has no op Identity");
  node.inputs = {value};
  node.control_inputs.clear();
  node.attrs = {{"T", graph.output(value).dtype}};
  node.outputs.resize(1);
  TRY_ASSIGN(node.decoded, graph.Redecode(id));
  return OkStatus();
}

}  // namespace penstock
