#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"

namespace penstock {
namespace {

bool IsRead(const Node& node) {
  const std::string& op = node.op_name();
  return op == "ReadVariableOp" || op == "ResourceGather" || op == "ResourceGatherNd";
}

// A node that gives the variables behind its handles new values, and does nothing else.
bool IsUpdate(const Node& node) {
  const std::string& op = node.op_name();
  for (const std::string_view kind : {"ResourceApply", "_ResourceApply", "ResourceSparseApply",
                                      "ResourceScatter", "ResourceStridedSliceAssign"}) {
    if (op.starts_with(kind)) return true;
  }
  if (op.starts_with("Assign") && op.ends_with("VariableOp")) return true;
  return op == "If" && node.outputs.empty();  // a branch for its effect alone
}

class Orderer {
 public:
  explicit Orderer(Graph& graph)
      : graph_(graph),
        successors_(static_cast<size_t>(graph.num_nodes())),
        seen_(successors_.size(), kNoNode) {}

  void Run() {
    for (NodeId id = 0; id < graph_.num_nodes(); ++id) {
      if (graph_.IsLive(id)) Visit(id);
    }
    for (const NodeId update : updates_) Order(update);
  }

 private:
  void Visit(NodeId id) {
    const Node& node = graph_.node(id);
    for (const OutputRef& input : node.inputs) {
      if (input.node != kNoNode) successors_[static_cast<size_t>(input.node)].push_back(id);
    }
    for (const NodeId control : node.control_inputs)
      successors_[static_cast<size_t>(control)].push_back(id);
    if (IsRead(node)) reads_[node.inputs[0].node].push_back(id);
    if (IsUpdate(node)) updates_.push_back(id);
  }

  void Order(NodeId update) {
    MarkWhatFollows(update);
    const std::vector<OutputRef> inputs = graph_.node(update).inputs;
    for (const OutputRef& input : inputs) {
      const auto found = reads_.find(input.node);
      if (found == reads_.end() || graph_.output(input).dtype != DType::kResource) continue;
      for (const NodeId read : found->second) {
        if (!Before(read, update)) continue;
        for (const NodeId reader : std::vector(successors_[static_cast<size_t>(read)]))
          Before(reader, update);
      }
    }
  }
  // Marks `update` itself too.
  void MarkWhatFollows(NodeId update) {
    std::vector<NodeId> open = {update};
    seen_[static_cast<size_t>(update)] = update;
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      for (const NodeId next : successors_[static_cast<size_t>(id)]) {
        if (seen_[static_cast<size_t>(next)] == update) continue;
        seen_[static_cast<size_t>(next)] = update;
        open.push_back(next);
      }
    }
  }
  // Lets `update` wait for `id`, unless it is the other way round. Edges into `update` do not
  // change what follows it.
  bool Before(NodeId id, NodeId update) {
    if (seen_[static_cast<size_t>(id)] == update || graph_.node(id).op_name() == "_Retval")
      return false;
    const std::vector<NodeId>& next = successors_[static_cast<size_t>(id)];
    if (std::find(next.begin(), next.end(), update) != next.end()) return true;
    graph_.AddControlInput(update, id);
    successors_[static_cast<size_t>(id)].push_back(update);
    return true;
  }

  Graph& graph_;
  std::vector<std::vector<NodeId>> successors_;
  std::vector<NodeId> seen_;  // the update that each node was last found to follow
  std::vector<NodeId> updates_;
  std::unordered_map<NodeId, std::vector<NodeId>> reads_;  // by the node of the handle
};

}  // namespace

// Note [order of updates]: a step that reads a variable and updates it, with no order stated, reads
// first: a fetched loss is the one that the step's gradients belong to, at every run. The readers
// of the value come first too: while one of them holds the buffer, an update would have to copy it.
Status OrderUpdates(Graph& graph) {
  // Frames go by their own rules.
  if (!HasControlFlow(graph)) Orderer(graph).Run();
  return OkStatus();
}

}  // namespace penstock
