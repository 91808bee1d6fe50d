#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"
#include "penstock/core/checked.h"

namespace penstock {
namespace {

// The outputs of a folded node are at most this large, or this many times as large as its inputs.
constexpr int64_t kMaxFoldedBytes = 10 << 20;
constexpr int64_t kMaxGrowth = 4;
// All of them together may add this much to a graph, and so many times its constants.
constexpr int64_t kMaxAddedBytes = 256 << 20;

// Ops that look at the shape of their inputs alone.
bool ReadsOnlyShapes(const Node& node) {
  for (const std::string_view op : {"Shape", "ShapeN", "Size", "Rank"}) {
    if (node.op_name() == op) return true;
  }
  return false;
}

// Random values from a seed are first values of variables and masks: read once, as large as a
// model. Folded, they would stay with the plan.
bool Draws(const Node& node) {
  return node.op_name().starts_with("StatelessRandom") ||
         node.op_name().starts_with("StatelessTruncated");
}

bool CallsFunctions(const Node& node) {
  const std::vector<AttrDef>& attrs = node.op->def.attrs;
  return std::any_of(attrs.begin(), attrs.end(),
                     [](const AttrDef& attr) { return attr.kind.ends_with("func"); });
}

// Replaces nodes by their values, in one walk from the inputs on: a node that is folded makes its
// readers candidates, and its shape more specific for theirs.
class Folder {
 public:
  Folder(Graph& graph, const Evaluator& evaluator)
      : graph_(graph), evaluator_(evaluator), has_control_flow_(HasControlFlow(graph)) {
    for (NodeId id = 0; id < graph.num_nodes(); ++id) {
      if (!graph.IsLive(id) || graph.node(id).op_name() != "Const") continue;
      const Tensor* value = ConstantValue(graph, {id, 0});
      if (value != nullptr) budget_ += kMaxGrowth * static_cast<int64_t>(value->bytes());
    }
  }

  Status Run() {
    TRY_ASSIGN(const std::vector<NodeId> order, graph_.TopologicalOrder());
    changed_.assign(static_cast<size_t>(graph_.num_nodes()), 0);
    for (const NodeId id : order) TRY(Visit(id));
    RemoveUnread(graph_, std::move(unread_));
    return OkStatus();
  }

 private:
  Status Visit(NodeId id) {
    TRY_ASSIGN(const bool is_stale, TakeMovedInputs(id));
    if (is_stale) InferAgain(id);
    const Node& node = graph_.node(id);
    if (!node.op->traits.pure || node.inputs.empty() || node.outputs.empty()) return OkStatus();
    if (IsControlFlow(node) || CallsFunctions(node) || Draws(node)) return OkStatus();
    for (const NodeId control : node.control_inputs) {
      if (!IsFreeConstant(graph_.node(control))) return OkStatus();
    }
    std::vector<Tensor> inputs;
    const bool reads_only_shapes = ReadsOnlyShapes(node);
    const bool ready = reads_only_shapes ? ShapesOnly(node, &inputs) : Values(node, &inputs);
    if (!ready || !FitsBudget(node, inputs, reads_only_shapes)) return OkStatus();
    // What cannot be computed stays: if the step really runs it, the step reports the error.
    Result<std::vector<Tensor>> outputs = evaluator_(node, inputs);
    if (!outputs.ok() || !IsUsable(node, *outputs)) return OkStatus();
    return Replace(id, *outputs, reads_only_shapes && has_control_flow_);
  }

  // Points the inputs at the constants that took the place of outputs 1, 2, ... of folded nodes.
  // True when something is known of an input that was not known when the node's shapes were found.
  Result<bool> TakeMovedInputs(NodeId id) {
    bool is_stale = false;
    for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
      const OutputRef input = graph_.node(id).inputs[i];
      is_stale |= input.node < static_cast<NodeId>(changed_.size()) && changed_[input.node] != 0;
      if (input.port == 0) continue;
      const auto it = moved_.find({input.node, input.port});
      if (it == moved_.end()) continue;
      auto& [value, place] = it->second;
      if (place == kNoNode) {
        const Node& from = graph_.node(input.node);
        TRY_ASSIGN(place, graph_.AddNode({.op = "Const",
                                          .name = from.name,
                                          .attrs = {{"value", value}, {"dtype", value.dtype()}},
                                          .device = from.device,
                                          .site = from.site}));
      }
      graph_.node(id).inputs[i] = {place, 0};
    }
    return is_stale;
  }

  void InferAgain(NodeId id) {
    Node& node = graph_.node(id);
    const std::vector<OutputInfo> before = node.outputs;
    const bool ok = graph_.InferNode(id).ok();
    bool changed = false;
    for (size_t i = 0; i < before.size(); ++i) {
      // The node will fail if it runs, and says so then; nobody may rely on its shapes.
      if (!ok) node.outputs[i].shape = Shape::Unknown();
      // What others read off a vector of extents does not show in its own shape.
      const bool is_integer = IsInteger(before[i].dtype);
      changed |= is_integer || !(node.outputs[i].shape == before[i].shape);
    }
    changed_[id] |= changed;
  }

  bool Values(const Node& node, std::vector<Tensor>* inputs) const {
    for (const OutputRef& input : node.inputs) {
      const Node& from = graph_.node(input.node);
      if (!IsFreeConstant(from)) return false;
      const Tensor* value = ConstantValue(graph_, input);
      if (value == nullptr || !value->initialized()) return false;
      inputs->push_back(*value);
    }
    return true;
  }

  // Tensors that have a shape and nothing else.
  bool ShapesOnly(const Node& node, std::vector<Tensor>* inputs) const {
    const bool needs_rank_alone = node.op_name() == "Rank";
    for (const OutputRef& input : node.inputs) {
      const OutputInfo& info = graph_.output(input);
      // A variable may be given another shape.
      if (info.is_ref || !info.shape.has_rank()) return false;
      if (!needs_rank_alone && !info.shape.CheckedNumElements()) return false;
      const std::vector<int64_t> ones(static_cast<size_t>(info.shape.rank()), 1);
      const Shape shape = needs_rank_alone ? Shape(ones) : info.shape;
      inputs->push_back(Tensor::Borrowed(info.dtype, shape, nullptr));
    }
    return true;
  }

  bool FitsBudget(const Node& node, const std::vector<Tensor>& inputs, bool only_shapes) const {
    int64_t read = 0;
    for (const Tensor& input : inputs) {
      if (!only_shapes) read += static_cast<int64_t>(input.bytes());
    }
    int64_t made = 0;
    for (const OutputInfo& output : node.outputs) {
      if (!IsPlain(output.dtype) || output.is_ref) return false;
      const auto count = output.shape.CheckedNumElements();
      if (!count) continue;  // only the values tell: looked at again when they are there
      const auto bytes = CheckedMul(*count, static_cast<int64_t>(SizeOf(output.dtype)));
      if (!bytes || *bytes > budget_) return false;
      made += *bytes;
      if (made > budget_) return false;
    }
    return made <= kMaxFoldedBytes || made / kMaxGrowth <= read;
  }

  bool IsUsable(const Node& node, const std::vector<Tensor>& outputs) const {
    if (outputs.size() != node.outputs.size()) return false;
    int64_t bytes = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].initialized() || outputs[i].dtype() != node.outputs[i].dtype) return false;
      if (!node.outputs[i].shape.IsCompatibleWith(outputs[i].shape())) return false;
      bytes += static_cast<int64_t>(outputs[i].bytes());
    }
    return bytes <= budget_;
  }

  Status Replace(NodeId id, const std::vector<Tensor>& outputs, bool stays_behind_inputs) {
    const std::vector<OutputRef> inputs = graph_.node(id).inputs;
    for (const NodeId control : graph_.node(id).control_inputs) unread_.push_back(control);
    for (const OutputRef& input : inputs) unread_.push_back(input.node);
    if (outputs.size() > 1) unread_.push_back(id);
    TRY(TurnIntoConst(graph_, id, outputs[0]));
    if (stays_behind_inputs) {
      // Where there are branches and loops the constant belongs to those of the inputs.
      for (const OutputRef& input : inputs) graph_.AddControlInput(id, input.node);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      budget_ -= static_cast<int64_t>(outputs[i].bytes());
      if (i > 0) moved_[{id, static_cast<int32_t>(i)}] = {outputs[i], kNoNode};
    }
    changed_[id] = 1;
    return OkStatus();
  }

  Graph& graph_;
  const Evaluator& evaluator_;
  const bool has_control_flow_;
  int64_t budget_ = kMaxAddedBytes;
  std::vector<uint8_t> changed_;  // by node: it became a constant, or its shape more specific
  // The values of outputs 1, 2, ... of folded nodes, and the constants made of those that are read.
  std::map<std::pair<NodeId, int32_t>, std::pair<Tensor, NodeId>> moved_;
  std::vector<NodeId> unread_;  // may have lost their last reader
};

}  // namespace

Status FoldConstants(Graph& graph, const Evaluator& evaluator) {
  if (!evaluator) return OkStatus();
  return Folder(graph, evaluator).Run();
}

}  // namespace penstock
