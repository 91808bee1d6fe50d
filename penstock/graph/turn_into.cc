#include "penstock/graph/turn_into.h"

#include <utility>

#include "penstock/graph/node_check.h"

namespace penstock {

Status TurnInto(Graph& graph, NodeId id, const OpInfo& op, AttrMap attrs,
                std::vector<OutputRef> inputs) {
  Node& node = graph.node(id);
  if (const AttrValue* colocation = FindAttr(node.attrs, "_class")) {
    attrs.emplace_back("_class", *colocation);
  }
  TRY_ASSIGN(const NodeTypes types, ExpandTypes(op.def, attrs));
  TRY_ASSIGN(DecodedOp decoded, op.decode(attrs, types));
  node.op = &op;
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  node.decoded = std::move(decoded);
  node.extra = nullptr;
  return OkStatus();
}

Status TurnIntoConst(Graph& graph, NodeId id, const Tensor& value) {
  const OpInfo* op = graph.registry().Find("Const");
  if (op == nullptr) return Internal("the registry has no op Const");
  TRY(TurnInto(graph, id, *op, {{"value", value}, {"dtype", value.dtype()}}, {}));
  Node& node = graph.node(id);
  node.control_inputs.clear();
  node.outputs.assign(1, {value.dtype(), false, value.shape()});
  return OkStatus();
}

Status TurnIntoIdentity(Graph& graph, NodeId id, OutputRef value) {
  const OpInfo* op = graph.registry().Find("Identity");
  if (op == nullptr) return Internal("the registry has no op Identity");
  TRY(TurnInto(graph, id, *op, {{"T", graph.output(value).dtype}}, {value}));
  Node& node = graph.node(id);
  node.control_inputs.clear();
  node.outputs.resize(1);
  return OkStatus();
}

}  // namespace penstock
