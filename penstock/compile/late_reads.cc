#include <set>
#include <vector>

#include "penstock/compile/passes.h"

namespace penstock {
namespace {

bool IsReadOfReference(const Graph& graph, const Node& node) {
  return node.op_name() == "Identity" && graph.output(node.inputs[0]).is_ref;
}

}  // namespace

// TensorFlow hands the buffer of a reference variable on, so a node that waits for an update sees
// the new value although the Identity that reads the variable ran before. Here a value once read
// does not change; so such a node gets a read of its own, which waits for what it waits for.
Status ReadReferencesLate(Graph& graph) {
  std::set<NodeId> touched;  // variables that something besides reads refers to
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id) || graph.node(id).op_name() == "Identity") continue;
    for (const OutputRef& input : graph.node(id).inputs) {
      if (input.node != kNoNode && graph.output(input).is_ref) touched.insert(input.node);
    }
  }
  if (touched.empty()) return OkStatus();
  const NodeId num_nodes = graph.num_nodes();
  for (NodeId id = 0; id < num_nodes; ++id) {
    if (!graph.IsLive(id) || graph.node(id).control_inputs.empty()) continue;
    for (size_t i = 0; i < graph.node(id).inputs.size(); ++i) {
      const OutputRef input = graph.node(id).inputs[i];
      if (input.node == kNoNode || !IsReadOfReference(graph, graph.node(input.node))) continue;
      const Node& read = graph.node(input.node);
      if (!touched.contains(read.inputs[0].node)) continue;
      NodeSpec late{.op = "Identity",
                    .name = read.name + "/late",
                    .inputs = read.inputs,
                    .control_inputs = read.control_inputs,
                    .attrs = read.attrs,
                    .device = read.device,
                    .site = read.site};
      late.control_inputs.insert(late.control_inputs.end(), graph.node(id).control_inputs.begin(),
                                 graph.node(id).control_inputs.end());
      TRY_ASSIGN(const NodeId added, graph.AddNode(std::move(late)));
      TRY(graph.SetInput(id, static_cast<int>(i), {added, 0}));
    }
  }
  return OkStatus();
}

}  // namespace penstock
