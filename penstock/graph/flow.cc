#include "penstock/graph/flow.h"

#include <map>
#include <string_view>
#include <utility>

namespace penstock {
namespace {

struct FlowName {
  std::string_view op;
  Flow flow;
};
constexpr FlowName kFlowNames[] = {
    {"Switch", Flow::kSwitch},
    {"Merge", Flow::kMerge},
    {"Enter", Flow::kEnter},
    {"Exit", Flow::kExit},
    {"NextIteration", Flow::kNextIteration},
    {"LoopCond", Flow::kLoopCond},
    {"ControlTrigger", Flow::kControlTrigger},
};

// Executors go up and down the nest on the stack.
constexpr int32_t kMaxLoopDepth = 100;

template <class T>
const T* Attr(const Node& node, std::string_view name) {
  const AttrValue* value = FindAttr(node.attrs, name);
  return value == nullptr ? nullptr : value->Get<T>();
}

class FrameFinder {
 public:
  explicit FrameFinder(const Graph& graph) : graph_(graph) {
    map_.frames.emplace_back();
    map_.of_node.assign(static_cast<size_t>(graph.num_nodes()), 0);
    map_.of_outputs = map_.of_node;
  }

  Status Visit(NodeId id) {
    const Node& node = graph_.node(id);
    TRY_ASSIGN(const int32_t frame, FrameOfInputs(id));
    map_.of_node[id] = map_.of_outputs[id] = frame;
    const Flow flow = FlowOf(*node.op);
    if (flow == Flow::kExit) {
      if (frame == 0) return InvalidArgument("{} leaves a loop, but is in none", Describe(id));
      map_.of_outputs[id] = map_.frames[frame].parent;
    } else if (flow == Flow::kNextIteration && frame == 0) {
      return InvalidArgument("{} is in no loop: it needs an Enter before it", Describe(id));
    } else if (flow == Flow::kEnter) {
      TRY_ASSIGN(map_.of_outputs[id], FindOrAddLoop(id, frame));
    }
    return OkStatus();
  }

  FrameMap Take() && { return std::move(map_); }

 private:
  std::string Describe(NodeId id) const { return graph_.Describe(id); }

  // A constant that waits for nothing is at hand in every loop.
  bool IsEverywhere(NodeId id) const {
    const Node& node = graph_.node(id);
    return node.inputs.empty() && node.control_inputs.empty() && node.op_name() == "Const";
  }

  Result<int32_t> FrameOfInputs(NodeId id) const {
    const Node& node = graph_.node(id);
    NodeId first = kNoNode;
    Status status;
    auto see = [&](NodeId from, bool is_back_edge) {
      if (from == kNoNode || is_back_edge || IsEverywhere(from)) return;
      if (first == kNoNode) first = from;
      const int32_t here = map_.of_outputs[first];
      const int32_t there = map_.of_outputs[from];
      if (here == there || !status.ok()) return;
      status = InvalidArgument(
          "{} has inputs from different frames. The input {} is in frame '{}'. The input {} is in "
          "frame '{}'.",
          Describe(id), Describe(first), map_.frames[here].name, Describe(from),
          map_.frames[there].name);
    };
    const bool merges = FlowOf(*node.op) == Flow::kMerge;
    for (const OutputRef& input : node.inputs) {
      const bool is_back_edge = merges && input.node != kNoNode &&
                                FlowOf(*graph_.node(input.node).op) == Flow::kNextIteration;
      see(input.node, is_back_edge);
    }
    for (const NodeId control : node.control_inputs) see(control, false);
    TRY(status);
    return first == kNoNode ? 0 : map_.of_outputs[first];
  }

  Result<int32_t> FindOrAddLoop(NodeId id, int32_t parent) {
    const Node& node = graph_.node(id);
    const std::string* name = Attr<std::string>(node, "frame_name");
    const int64_t* parallel = Attr<int64_t>(node, "parallel_iterations");
    if (name == nullptr || parallel == nullptr)
      return InvalidArgument("{} names no frame", Describe(id));
    const auto [it, added] =
        loops_.emplace(std::pair(parent, *name), static_cast<int32_t>(map_.frames.size()));
    if (added) {
      const int32_t depth = map_.frames[parent].depth + 1;
      if (depth > kMaxLoopDepth)
        return InvalidArgument("{}: loops are nested more than {} deep", Describe(id),
                               kMaxLoopDepth);
      map_.frames.push_back({*name, parent, depth, *parallel});
    } else if (const int64_t before = map_.frames[it->second].parallel_iterations;
               before != *parallel) {
      return InvalidArgument("{}: frame '{}' already has parallel_iterations {}, got {}",
                             Describe(id), *name, before, *parallel);
    }
    return it->second;
  }

  const Graph& graph_;
  FrameMap map_;
  std::map<std::pair<int32_t, std::string>, int32_t> loops_;
};

}  // namespace

Flow FlowOf(const OpInfo& op) {
  std::string_view name = op.def.name;
  if (name.starts_with("Ref")) name.remove_prefix(3);
  for (const FlowName& entry : kFlowNames) {
    if (entry.op == name) return entry.flow;
  }
  return Flow::kNone;
}

Shape CommonShape(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::Unknown();
  Shape common = a;
  for (int i = 0; i < common.rank(); ++i) {
    if (a.dim(i) != b.dim(i)) common.set_dim(i, Shape::kUnknownDim);
  }
  return common;
}

Result<FrameMap> FindFrames(const Graph& graph, const std::vector<NodeId>& order) {
  FrameFinder finder(graph);
  for (const NodeId id : order) TRY(finder.Visit(id));
  // Back edges: what a merge gets from its loop must be of that loop.
  FrameMap map = std::move(finder).Take();
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    if (FlowOf(*node.op) != Flow::kMerge) continue;
    for (const OutputRef& input : node.inputs) {
      if (map.of_outputs[input.node] == map.of_node[id]) continue;
      const Node& from = graph.node(input.node);
      if (from.op_name() == "Const" && from.control_inputs.empty()) continue;
      return InvalidArgument("{} in frame '{}' merges a value of {} in frame '{}'",
                             graph.Describe(id), map.frames[map.of_node[id]].name,
                             graph.Describe(input.node),
                             map.frames[map.of_outputs[input.node]].name);
    }
  }
  return map;
}

}  // namespace penstock
