#include <optional>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/graph/flow.h"

// Note [shapes in loops]
// ----------------------
// When a loop is built, nothing is known of what its back edges will bring. Here all nodes are
// there: assume that a loop's values keep the shapes they enter with, infer the body from that, and
// see what comes round. Where it differs, assume only what both have in common, and start again. An
// assumption that brings itself about holds in every iteration, by induction.

namespace penstock {
namespace {

constexpr int kMaxRounds = 8;

class LoopShapes {
 public:
  LoopShapes(Graph& graph, const std::vector<NodeId>& order) : graph_(graph), order_(order) {
    merge_of_.assign(static_cast<size_t>(graph.num_nodes()), -1);
    for (const NodeId id : order) {
      if (FlowOf(*graph.node(id).op) != Flow::kMerge || !HasBackEdge(id)) continue;
      merge_of_[id] = static_cast<int32_t>(merges_.size());
      merges_.push_back({id, std::nullopt});
    }
  }

  Status Infer() {
    if (merges_.empty()) return OkStatus();
    Save();
    for (int round = 0; round < kMaxRounds; ++round) {
      Restore();
      // An error under an assumption says that the assumption is wrong, not the program.
      if (!Sweep().ok()) break;
      if (!Weaken()) return OkStatus();
    }
    Restore();
    return OkStatus();
  }

 private:
  struct LoopMerge {
    NodeId node;
    std::optional<Shape> limit;  // what may be assumed at most; nothing was found against it yet
  };

  bool IsBackEdge(OutputRef input) const {
    return FlowOf(*graph_.node(input.node).op) == Flow::kNextIteration;
  }
  bool HasBackEdge(NodeId id) const {
    for (const OutputRef& input : graph_.node(id).inputs) {
      if (IsBackEdge(input)) return true;
    }
    return false;
  }

  void Save() {
    for (const NodeId id : order_) {
      for (const OutputInfo& output : graph_.node(id).outputs) saved_.push_back(output.shape);
    }
  }
  void Restore() {
    size_t at = 0;
    for (const NodeId id : order_) {
      for (OutputInfo& output : graph_.node(id).outputs) output.shape = saved_[at++];
    }
  }

  // Infers all nodes once, loops by what is assumed of them.
  Status Sweep() {
    for (const NodeId id : order_) {
      if (merge_of_[id] >= 0) {
        Assume(merges_[static_cast<size_t>(merge_of_[id])]);
      } else {
        TRY(graph_.InferNode(id));
      }
    }
    return OkStatus();
  }

  void Assume(const LoopMerge& merge) {
    Node& node = graph_.node(merge.node);
    std::optional<Shape> assumed = merge.limit;
    for (const OutputRef& input : node.inputs) {
      if (IsBackEdge(input)) continue;
      const Shape& shape = graph_.output(input).shape;
      assumed = assumed ? CommonShape(*assumed, shape) : shape;
    }
    if (assumed) node.outputs[0].shape = *assumed;
  }

  // Holds what came round against what was assumed. True when something has to be given up.
  bool Weaken() {
    bool changed = false;
    for (LoopMerge& merge : merges_) {
      const Node& node = graph_.node(merge.node);
      const Shape& assumed = node.outputs[0].shape;
      Shape common = assumed;
      for (const OutputRef& input : node.inputs) {
        if (IsBackEdge(input)) common = CommonShape(common, graph_.output(input).shape);
      }
      if (common == assumed) continue;
      merge.limit = common;
      changed = true;
    }
    return changed;
  }

  Graph& graph_;
  const std::vector<NodeId>& order_;
  std::vector<int32_t> merge_of_;  // per node: its number in merges_, or -1
  std::vector<LoopMerge> merges_;
  std::vector<Shape> saved_;
};

}  // namespace

Status InferShapes(Graph& graph) {
  TRY_ASSIGN(const std::vector<NodeId> order, graph.TopologicalOrder());
  for (const NodeId id : order) TRY(graph.InferNode(id));
  return LoopShapes(graph, order).Infer();
}

}  // namespace penstock
