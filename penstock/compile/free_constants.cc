#include <algorithm>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"
#include "penstock/graph/flow.h"

namespace penstock {
namespace {

// How far a reader's other inputs are followed.
constexpr int kMaxDepth = 3;

class ConstantFreer {
 public:
  explicit ConstantFreer(Graph& graph) : graph_(graph) {
    readers_.resize(static_cast<size_t>(graph.num_nodes()));
    is_waited_for_.assign(readers_.size(), 0);
    for (NodeId id = 0; id < graph.num_nodes(); ++id) {
      if (!graph.IsLive(id)) continue;
      for (const OutputRef& input : graph.node(id).inputs) readers_[input.node].push_back(id);
      for (const NodeId control : graph.node(id).control_inputs) is_waited_for_[control] = 1;
    }
  }

  void Run() {
    for (NodeId id = 0; id < graph_.num_nodes(); ++id) {
      if (graph_.IsLive(id) && MayBeFree(id)) graph_.node(id).control_inputs.clear();
    }
  }

 private:
  bool MayBeFree(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.op_name() != "Const" || node.control_inputs.empty()) return false;
    if (is_waited_for_[id] != 0 || readers_[id].empty()) return false;
    return std::all_of(readers_[id].begin(), readers_[id].end(), [&](NodeId reader) {
      return FlowOf(*graph_.node(reader).op) == Flow::kNone &&
             std::all_of(node.control_inputs.begin(), node.control_inputs.end(),
                         [&](NodeId control) { return Follows(reader, control, id, kMaxDepth); });
    });
  }

  // Whether `id` waits for `wanted` by a way that does not lead through `other`, and is dead when
  // that is dead.
  bool Follows(NodeId id, NodeId wanted, NodeId other, int depth) const {
    const Node& node = graph_.node(id);
    const Flow flow = FlowOf(*node.op);
    if (flow != Flow::kNone && flow != Flow::kSwitch && flow != Flow::kLoopCond) return false;
    auto leads_there = [&](NodeId from) {
      if (from == other) return false;
      return from == wanted || (depth > 1 && Follows(from, wanted, other, depth - 1));
    };
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](const OutputRef& input) { return leads_there(input.node); }) ||
           std::any_of(node.control_inputs.begin(), node.control_inputs.end(), leads_there);
  }

  Graph& graph_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<uint8_t> is_waited_for_;
};

}  // namespace

// A client makes a constant inside a branch or a loop wait for a node there, to say where it
// belongs. When whoever reads it waits for that node anyway, it need not run each time round.
Status FreeConstants(Graph& graph) {
  ConstantFreer(graph).Run();
  return OkStatus();
}

}  // namespace penstock
