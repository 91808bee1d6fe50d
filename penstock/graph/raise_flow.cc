#include "penstock/graph/raise_flow.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "penstock/graph/body_derivative.h"
#include "penstock/graph/flow.h"
#include "penstock/graph/turn_into.h"

namespace penstock {
namespace {

using Key = std::pair<NodeId, int32_t>;

std::vector<DType> TypesOf(const Graph& graph, const std::vector<OutputRef>& refs) {
  std::vector<DType> types;
  for (const OutputRef& ref : refs) types.push_back(graph.output(ref).dtype);
  return types;
}

OutputInfo InfoOf(const Graph& graph, OutputRef ref) {
  return {graph.output(ref).dtype, false, graph.output(ref).shape};
}

Flow FlowAt(const Graph& graph, NodeId id) { return FlowOf(*graph.node(id).op); }

// The value itself, in place of identities of it.
OutputRef ThroughIdentities(const Graph& graph, OutputRef ref) {
  while (graph.node(ref.node).op_name() == "Identity") ref = graph.node(ref.node).inputs[0];
  return ref;
}

// ---- loops ----

// A value of a loop: what it begins with, and the nodes it goes round through.
struct LoopValue {
  NodeId enter = kNoNode;
  NodeId merge = kNoNode;
  NodeId choice = kNoNode;  // the Switch
  OutputRef next;           // what NextIteration reads
  std::vector<NodeId> exits;
};

struct Loop {
  std::vector<LoopValue> values;
  std::vector<NodeId> constants;  // Enter nodes of what stays the same
  NodeId cond = kNoNode;
  std::vector<NodeId> members;
};

// The loop of a frame; nothing when it has another form than While has.
std::optional<Loop> ReadLoop(const Graph& graph, const FrameMap& frames, int32_t frame) {
  Loop loop;
  std::map<NodeId, size_t> by_merge;
  std::map<NodeId, size_t> by_choice;
  for (NodeId id = 0; id < static_cast<NodeId>(frames.of_node.size()); ++id) {
    if (!graph.IsLive(id)) continue;
    if (FlowAt(graph, id) == Flow::kEnter && frames.of_outputs[id] == frame) {
      loop.members.push_back(id);
      const AttrValue* constant = FindAttr(graph.node(id).attrs, "is_constant");
      if (constant != nullptr && *constant == AttrValue(true)) loop.constants.push_back(id);
    }
    if (frames.of_node[id] != frame) continue;
    loop.members.push_back(id);
    if (FlowAt(graph, id) == Flow::kLoopCond) {
      if (loop.cond != kNoNode) return {};
      loop.cond = id;
    } else if (FlowAt(graph, id) == Flow::kMerge) {
      const std::vector<OutputRef>& inputs = graph.node(id).inputs;
      if (inputs.size() != 2 || inputs[0].node == kNoNode || inputs[1].node == kNoNode) return {};
      if (FlowAt(graph, inputs[0].node) != Flow::kEnter ||
          FlowAt(graph, inputs[1].node) != Flow::kNextIteration) {
        return {};
      }
      by_merge[id] = loop.values.size();
      loop.values.push_back(
          {inputs[0].node, id, kNoNode, graph.node(inputs[1].node).inputs[0], {}});
    }
  }
  if (loop.cond == kNoNode) return {};
  for (const NodeId id : loop.members) {
    if (FlowAt(graph, id) != Flow::kSwitch || frames.of_node[id] != frame) continue;
    const Node& node = graph.node(id);
    if (node.inputs[1].node != loop.cond) continue;  // of a branch
    const auto value = by_merge.find(node.inputs[0].node);
    if (value == by_merge.end()) return {};
    if (loop.values[value->second].choice != kNoNode) return {};
    loop.values[value->second].choice = id;
    by_choice[id] = value->second;
  }
  for (const NodeId id : loop.members) {
    if (FlowAt(graph, id) != Flow::kExit) continue;
    const OutputRef from = graph.node(id).inputs[0];
    const auto value = by_choice.find(from.node);
    if (value == by_choice.end() || from.port != 0) return {};
    loop.values[value->second].exits.push_back(id);
  }
  return loop;
}

// One of the two functions of a loop, over its values and constants.
Result<FunctionName> WriteLoopFunction(Graph& graph, const Loop& loop, bool is_body,
                                       bool* has_effects) {
  FunctionWriter writer(graph);
  std::vector<OutputRef> wanted;
  std::vector<OutputRef> constants;
  for (const LoopValue& value : loop.values) {
    const OutputRef arg =
        writer.AddArg({graph.node(value.merge).outputs[0].dtype, false, Shape::Unknown()});
    writer.Substitute({value.merge, 0}, arg);
    if (value.choice != kNoNode) writer.Substitute({value.choice, 1}, arg);
    if (is_body) wanted.push_back(value.next);
  }
  for (const NodeId id : loop.constants) {
    constants.push_back(writer.AddArg(InfoOf(graph, {id, 0})));
    writer.Substitute({id, 0}, constants.back());
  }
  std::vector<NodeId> effects;
  if (is_body) {
    for (const NodeId id : loop.members) {
      const Node& node = graph.node(id);
      if (!node.op->traits.pure && FlowOf(*node.op) == Flow::kNone) effects.push_back(id);
    }
  } else {
    wanted = {graph.node(loop.cond).inputs[0]};
  }
  TRY_ASSIGN(std::vector<OutputRef> results, writer.Copy(wanted, /*controls=*/true, effects));
  if (is_body) results.insert(results.end(), constants.begin(), constants.end());
  return writer.Finish(graph, is_body ? "while_body" : "while_cond", results, has_effects);
}

Status RaiseLoop(Graph& graph, const Loop& loop) {
  bool has_effects = false;
  TRY_ASSIGN(const FunctionName cond, WriteLoopFunction(graph, loop, false, &has_effects));
  TRY_ASSIGN(const FunctionName body, WriteLoopFunction(graph, loop, true, &has_effects));
  NodeSpec spec;
  spec.name = "while";
  for (const LoopValue& value : loop.values)
    spec.inputs.push_back(graph.node(value.enter).inputs[0]);
  for (const NodeId id : loop.constants) spec.inputs.push_back(graph.node(id).inputs[0]);
  spec.op = has_effects ? "While" : "StatelessWhile";
  spec.attrs = {{"T", TypesOf(graph, spec.inputs)}, {"cond", cond}, {"body", body}};
  TRY_ASSIGN(const NodeId node, graph.AddNode(std::move(spec)));
  std::set<NodeId> kept;
  for (size_t i = 0; i < loop.values.size(); ++i) {
    for (const NodeId exit : loop.values[i].exits) {
      const Shape shape = graph.node(exit).outputs[0].shape;
      graph.node(node).outputs[i].shape = shape;
      TRY(TurnIntoIdentity(graph, exit, {node, static_cast<int32_t>(i)}));
      kept.insert(exit);
    }
  }
  for (const NodeId id : loop.members) {
    if (!kept.contains(id)) graph.RemoveNode(id);
  }
  return OkStatus();
}

// ---- branches ----

// Which ways of which predicates a value lies on.
using Ways = std::map<Key, std::set<int32_t>>;

class BranchRaiser {
 public:
  BranchRaiser(Graph& graph, std::vector<NodeId> order) : graph_(graph), order_(std::move(order)) {}

  Status Run() {
    FindWays();
    for (size_t at = 0; at < order_.size(); ++at) {
      const NodeId id = order_[at];
      if (!IsBranchMerge(id)) continue;
      if (const std::optional<Key> predicate = PredicateOf(id)) {
        TRY(Raise(id, *predicate));
        FindWays();
      }
    }
    return OkStatus();
  }

 private:
  bool IsBranchMerge(NodeId id) const {
    if (!graph_.IsLive(id) || FlowAt(graph_, id) != Flow::kMerge) return false;
    const std::vector<OutputRef>& inputs = graph_.node(id).inputs;
    if (inputs.size() != 2) return false;
    for (const OutputRef& input : inputs) {
      if (input.node == kNoNode || FlowAt(graph_, input.node) == Flow::kNextIteration) return false;
    }
    return true;
  }

  void FindWays() {
    ways_.assign(static_cast<size_t>(graph_.num_nodes()), {});
    for (const NodeId id : order_) {
      if (!graph_.IsLive(id) || FlowAt(graph_, id) == Flow::kMerge) continue;
      const Node& node = graph_.node(id);
      for (const OutputRef& input : node.inputs) AddWays(WaysOf(input), id);
      for (const NodeId control : node.control_inputs) AddWays(ways_[control], id);
    }
  }
  Ways WaysOf(OutputRef ref) const {
    Ways ways = ways_[ref.node];
    if (FlowAt(graph_, ref.node) == Flow::kSwitch) {
      const OutputRef predicate = ThroughIdentities(graph_, graph_.node(ref.node).inputs[1]);
      ways[{predicate.node, predicate.port}].insert(ref.port);
    }
    return ways;
  }
  void AddWays(const Ways& from, NodeId to) {
    for (const auto& [predicate, sides] : from)
      ways_[to][predicate].insert(sides.begin(), sides.end());
  }

  // The predicate on whose two ways the inputs of a Merge lie.
  std::optional<Key> PredicateOf(NodeId merge) const {
    const Node& node = graph_.node(merge);
    const Ways first = WaysOf(node.inputs[0]), second = WaysOf(node.inputs[1]);
    for (const auto& [predicate, sides] : first) {
      const auto other = second.find(predicate);
      if (other == second.end() || sides.size() != 1 || other->second.size() != 1) continue;
      if (*sides.begin() != *other->second.begin()) return predicate;
    }
    return {};
  }

  // Outputs of Switch nodes of the predicate, and values that do not lie on its ways, end a branch.
  bool IsBorder(OutputRef ref, const Key& predicate) const {
    if (FlowAt(graph_, ref.node) == Flow::kSwitch) return true;
    return !ways_[ref.node].contains(predicate);
  }
  OutputRef Outside(OutputRef ref, const Key& predicate) const {
    if (FlowAt(graph_, ref.node) != Flow::kSwitch) return ref;
    const Node& node = graph_.node(ref.node);
    const OutputRef chosen = ThroughIdentities(graph_, node.inputs[1]);
    return Key{chosen.node, chosen.port} == predicate ? node.inputs[0] : ref;
  }

  // The border values of what makes `value`.
  std::vector<OutputRef> Borders(OutputRef value, const Key& predicate) const {
    std::vector<OutputRef> borders;
    std::set<NodeId> seen;
    std::vector<OutputRef> open = {value};
    while (!open.empty()) {
      const OutputRef ref = open.back();
      open.pop_back();
      if (IsBorder(ref, predicate)) {
        if (std::find(borders.begin(), borders.end(), ref) == borders.end()) borders.push_back(ref);
      } else if (seen.insert(ref.node).second) {
        const std::vector<OutputRef>& inputs = graph_.node(ref.node).inputs;
        open.insert(open.end(), inputs.begin(), inputs.end());
      }
    }
    return borders;
  }

  Status Raise(NodeId merge, const Key& predicate) {
    const std::vector<OutputRef> inputs = graph_.node(merge).inputs;
    const bool true_first = WaysOf(inputs[0]).at(predicate).contains(1);
    const OutputRef values[2] = {inputs[true_first ? 0 : 1], inputs[true_first ? 1 : 0]};
    // Both functions get all values from outside that either reads.
    std::vector<OutputRef> outside;
    for (const OutputRef& value : values) {
      for (const OutputRef& border : Borders(value, predicate)) {
        const OutputRef ref = Outside(border, predicate);
        if (std::find(outside.begin(), outside.end(), ref) == outside.end()) outside.push_back(ref);
      }
    }
    bool has_effects = false;
    FunctionName functions[2];
    for (int i = 0; i < 2; ++i) {
      FunctionWriter writer(graph_);
      std::vector<OutputRef> args;
      for (const OutputRef& ref : outside) args.push_back(writer.AddArg(InfoOf(graph_, ref)));
      for (const OutputRef& border : Borders(values[i], predicate)) {
        const auto at = std::find(outside.begin(), outside.end(), Outside(border, predicate));
        writer.Substitute(border, args[static_cast<size_t>(at - outside.begin())]);
      }
      TRY_ASSIGN(const std::vector<OutputRef> results, writer.Copy({values[i]}));
      TRY_ASSIGN(functions[i],
                 writer.Finish(graph_, i == 0 ? "cond_true" : "cond_false", results, &has_effects));
    }
    NodeSpec spec;
    spec.name = "cond";
    spec.op = has_effects ? "If" : "StatelessIf";
    spec.inputs = {{predicate.first, predicate.second}};
    spec.inputs.insert(spec.inputs.end(), outside.begin(), outside.end());
    spec.attrs = {{"Tin", outside.empty() ? AttrValue(AttrValue::EmptyList{})
                                          : AttrValue(TypesOf(graph_, outside))},
                  {"Tout", std::vector<DType>{graph_.node(merge).outputs[0].dtype}},
                  {"then_branch", functions[0]},
                  {"else_branch", functions[1]}};
    TRY_ASSIGN(const NodeId node, graph_.AddNode(std::move(spec)));
    graph_.node(node).outputs[0].shape = graph_.node(merge).outputs[0].shape;
    // The new node runs where the Merge did: on the way that both of its inputs share.
    order_.insert(std::find(order_.begin(), order_.end(), merge), node);
    return TurnIntoIdentity(graph_, merge, {node, 0});
  }

  Graph& graph_;
  std::vector<NodeId> order_;
  std::vector<Ways> ways_;
};

bool HasFlow(const Graph& graph) {
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (graph.IsLive(id) && FlowAt(graph, id) == Flow::kMerge) return true;
  }
  return false;
}

}  // namespace

Status RaiseControlFlow(Graph& graph) {
  if (!HasFlow(graph)) return OkStatus();
  TRY_ASSIGN(const std::vector<NodeId> order, graph.TopologicalOrder());
  TRY(BranchRaiser(graph, order).Run());
  std::set<std::string> left;  // loops of another form
  for (;;) {
    TRY_ASSIGN(const std::vector<NodeId> now, graph.TopologicalOrder());
    TRY_ASSIGN(const FrameMap frames, FindFrames(graph, now));
    int32_t deepest = 0;
    for (size_t i = 1; i < frames.frames.size(); ++i) {
      if (!left.contains(frames.frames[i].name) &&
          frames.frames[i].depth > frames.frames[deepest].depth) {
        deepest = static_cast<int32_t>(i);
      }
    }
    if (deepest == 0) return OkStatus();
    if (const std::optional<Loop> loop = ReadLoop(graph, frames, deepest)) {
      TRY(RaiseLoop(graph, *loop));
    } else {
      left.insert(frames.frames[deepest].name);
    }
  }
}

}  // namespace penstock
