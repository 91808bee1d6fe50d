#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/graph/node_check.h"

namespace penstock {
namespace {

// Note [reread]: in TensorFlow the value of a reference variable is its memory: who got it through
// an Identity before an update, and uses it after, sees the update. Here an Identity keeps the
// value of its moment. A reader that comes after an update by its edges therefore reads the
// variable itself; one that is in no order with it goes on reading the value of that moment.
class Rereader {
 public:
  explicit Rereader(Graph& graph)
      : graph_(graph), readers_(static_cast<size_t>(graph.num_nodes())) {}

  Status Run() {
    TRY_ASSIGN(const std::vector<NodeId> order, graph_.TopologicalOrder());
    for (const NodeId id : order) TRY(Classify(id));
    for (const auto& [variable, writers] : writers_) {
      if (const auto read = snapshots_.find(variable); read != snapshots_.end())
        Reread(writers, read->second);
    }
    return OkStatus();
  }

 private:
  Status Classify(NodeId id) {
    const Node& node = graph_.node(id);
    for (const NodeId control : node.control_inputs) readers_[control].push_back(id);
    bool has_reference = false;
    for (const OutputRef& input : node.inputs) {
      readers_[input.node].push_back(id);
      has_reference |= graph_.output(input).is_ref;
    }
    if (!has_reference) return OkStatus();
    TRY_ASSIGN(const NodeTypes types, ExpandTypes(node.op->def, node.attrs));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!graph_.output(node.inputs[i]).is_ref) continue;
      const NodeId variable = VariableOf(node.inputs[i].node);
      if (types.input_is_ref[i]) {
        writers_[variable].push_back(id);
        variable_.emplace(id, variable);
      } else if (node.op_name() == "Identity") {
        snapshots_[variable].push_back(id);
      }
    }
    return OkStatus();
  }
  NodeId VariableOf(NodeId id) const {
    const auto found = variable_.find(id);
    return found == variable_.end() ? id : found->second;
  }

  void Reread(const std::vector<NodeId>& writers, const std::vector<NodeId>& snapshots) {
    std::set<NodeId> later;
    std::vector<NodeId> open = writers;
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      for (const NodeId reader : readers_[id]) {
        if (later.insert(reader).second) open.push_back(reader);
      }
    }
    for (const NodeId snapshot : snapshots) {
      if (later.contains(snapshot)) continue;
      for (const NodeId reader : readers_[snapshot]) {
        if (!later.contains(reader) || graph_.node(reader).op_name() == "_Retval") continue;
        for (OutputRef& input : graph_.node(reader).inputs) {
          if (input == OutputRef{snapshot, 0}) input = graph_.node(snapshot).inputs[0];
        }
      }
    }
  }

  Graph& graph_;
  std::vector<std::vector<NodeId>> readers_;
  std::map<NodeId, NodeId> variable_;  // of a node that hands a reference on
  std::map<NodeId, std::vector<NodeId>> writers_, snapshots_;  // by variable
};

}  // namespace

Status RereadReferences(Graph& graph) {
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id)) continue;
    const std::vector<OutputInfo>& outputs = graph.node(id).outputs;
    if (std::any_of(outputs.begin(), outputs.end(),
                    [](const OutputInfo& info) { return info.is_ref; })) {
      return Rereader(graph).Run();
    }
  }
  return OkStatus();
}

}  // namespace penstock
