#include "penstock/compile/rewrite.h"

#include <algorithm>

#include "penstock/graph/flow.h"

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
