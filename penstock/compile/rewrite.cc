#include "penstock/compile/rewrite.h"

#include <algorithm>

#include "penstock/graph/flow.h"
#include "penstock/graph/node_check.h"

namespace penstock {

bool IsFreeConstant(const Node& node) {
  return node.control_inputs.empty() && node.op_name() == "Const";
}

bool IsControlFlow(const Node& node) { return FlowOf(*node.op) != Flow::kNone; }

bool HasControlFlow(const Graph& graph) {
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (graph.IsLive(id) && IsControlFlow(graph.node(id))) return true;
  }
  return false;
}

bool ReadsVariable(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](const OutputRef& input) { return graph.output(input).is_ref; });
}

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

void RemoveUnread(Graph& graph, std::vector<NodeId> candidates) {
  if (candidates.empty()) return;
  std::vector<int32_t> readers(static_cast<size_t>(graph.num_nodes()), 0);
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id)) continue;
    for (const OutputRef& input : graph.node(id).inputs) {
      if (input.node != kNoNode) ++readers[input.node];
    }
    for (const NodeId control : graph.node(id).control_inputs) ++readers[control];
  }
  // Targets run although nobody reads them.
  if (const auto targets = graph.collections.find("targets"); targets != graph.collections.end()) {
    for (const NodeId target : targets->second) ++readers[target];
  }
  while (!candidates.empty()) {
    const NodeId id = candidates.back();
    candidates.pop_back();
    if (!graph.IsLive(id) || readers[id] > 0) continue;
    const Node& node = graph.node(id);
    if (!node.op->traits.pure || node.outputs.empty()) continue;
    // A placeholder that was not fed says so, whatever became of its readers.
    if (node.inputs.empty() && node.op_name() != "Const") continue;
    auto lose = [&](NodeId from) {
      if (from != kNoNode && --readers[from] == 0) candidates.push_back(from);
    };
    for (const OutputRef& input : node.inputs) lose(input.node);
    for (const NodeId control : node.control_inputs) lose(control);
    graph.RemoveNode(id);
  }
}

}  // namespace penstock
