#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"
#include "penstock/graph/function.h"
#include "penstock/graph/instantiate.h"

namespace penstock {
namespace {

// A body of up to this many nodes takes the place of each of its calls; a larger one of its only
// call.
constexpr size_t kSmallBody = 64;
// How deep calls inside inlined bodies are inlined again, and how many nodes may be added in all.
constexpr int kMaxDepth = 32;
constexpr int64_t kMaxAddedNodes = 100'000;

const FunctionName* FunctionOf(const Node& node) {
  if (node.op_name() != "PartitionedCall" && node.op_name() != "StatefulPartitionedCall")
    return nullptr;
  const AttrValue* f = FindAttr(node.attrs, "f");
  return f == nullptr ? nullptr : f->Get<FunctionName>();
}

bool IsSet(const AttrMap& attrs, std::string_view name) {
  const AttrValue* value = FindAttr(attrs, name);
  const bool* flag = value == nullptr ? nullptr : value->Get<bool>();
  return flag != nullptr && *flag;
}

// A node that makes state under its own name: another name is other state.
bool MakesState(const Node& node) {
  if (node.op->traits.pure || !node.inputs.empty()) return false;
  return std::any_of(node.outputs.begin(), node.outputs.end(), [](const OutputInfo& output) {
    return output.is_ref || output.dtype == DType::kResource;
  });
}

// Whether the body may run as a part of its caller's graph. The frames of loops go by name, and
// would meet those of another call.
bool MayMove(const FunctionBody& body) {
  for (NodeId id = 0; id < body.graph.num_nodes(); ++id) {
    const Node& node = body.graph.node(id);
    if (node.op_name() == "_Arg") continue;
    if (IsControlFlow(node) || MakesState(node)) return false;
  }
  return true;
}

bool SameTypes(const Graph& graph, const Node& call, const FunctionBody& body) {
  if (call.inputs.size() != body.args.size() || call.outputs.size() != body.results.size())
    return false;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (graph.output(call.inputs[i]).dtype != body.graph.node(body.args[i]).outputs[0].dtype)
      return false;
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].dtype !=
        body.graph.output(body.graph.node(body.results[i]).inputs[0]).dtype)
      return false;
  }
  return true;
}

class Inliner {
 public:
  explicit Inliner(Graph& graph) : graph_(graph), has_control_flow_(HasControlFlow(graph)) {}

  Status Run() {
    for (NodeId id = 0; id < graph_.num_nodes(); ++id) {
      if (graph_.IsLive(id)) Found(id, {});
    }
    while (!open_.empty()) {
      Call call = std::move(open_.back());
      open_.pop_back();
      TRY(Visit(call));
    }
    Rewire();
    return OkStatus();
  }

 private:
  struct Call {
    NodeId node;
    std::vector<std::string> inside;  // the functions whose bodies it came from, outermost first
  };
  // One body in place of one call.
  struct Placement {
    const FunctionBody& body;
    const Node call;            // as it was
    NodeId begin = kNoNode;     // what waits for all that the call waited for
    std::vector<NodeId> moved;  // by node of the body
    std::vector<NodeId> effects;
  };

  void Found(NodeId id, const std::vector<std::string>& inside) {
    const FunctionName* function = FunctionOf(graph_.node(id));
    if (function == nullptr) return;
    ++calls_of_[function->name];
    open_.push_back({id, inside});
  }

  bool MayInline(const Node& node, const FunctionName& name, const Call& call) const {
    if (static_cast<int>(call.inside.size()) >= kMaxDepth || IsSet(node.attrs, "_noinline"))
      return false;
    if (std::find(call.inside.begin(), call.inside.end(), name.name) != call.inside.end())
      return false;
    const auto found = graph_.library().functions.find(name.name);
    if (found == graph_.library().functions.end() || IsSet(found->second->attrs, "_noinline"))
      return false;
    const size_t size = found->second->nodes.size();
    if (added_ + static_cast<int64_t>(size) > kMaxAddedNodes) return false;
    return size <= kSmallBody || calls_of_.at(name.name) == 1;
  }

  Status Visit(const Call& call) {
    const FunctionName name = *FunctionOf(graph_.node(call.node));
    if (!MayInline(graph_.node(call.node), name, call)) return OkStatus();
    FollowReplaced(graph_.node(call.node));
    // What is wrong with the function is reported when the call runs.
    Result<FunctionBody> body = Instantiate(graph_.library(), name, graph_.registry());
    if (!body.ok() || !SameTypes(graph_, graph_.node(call.node), *body) || !MayMove(*body))
      return OkStatus();
    Placement place{*body, graph_.node(call.node), kNoNode, {}, {}};
    TRY(AddBegin(place));
    MoveBody(place);
    TRY(ReplaceCall(call.node, place));
    std::vector<std::string> inside = call.inside;
    inside.push_back(name.name);
    for (const NodeId id : place.moved) {
      if (id != kNoNode) Found(id, inside);
    }
    return OkStatus();
  }

  // Effects wait for all inputs of the call, as they did inside it.
  Status AddBegin(Placement& place) {
    std::vector<NodeId> waits = place.call.control_inputs;
    if (!place.body.effects.empty() || has_control_flow_) {
      for (const OutputRef& input : place.call.inputs) {
        TRY_ASSIGN(const NodeId source, Awaited(input, place));
        waits.push_back(source);
      }
    }
    std::sort(waits.begin(), waits.end());
    waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    if (waits.empty()) return OkStatus();
    TRY_ASSIGN(place.begin, graph_.AddNode({.op = "NoOp",
                                            .name = place.call.name + "/begin",
                                            .control_inputs = std::move(waits),
                                            .device = place.call.device,
                                            .site = place.call.site}));
    return OkStatus();
  }

  // The node to wait for when `input` must be there. A Switch has run whichever way it went: what
  // tells is an Identity of the one output.
  Result<NodeId> Awaited(OutputRef input, const Placement& place) {
    if (!has_control_flow_ || graph_.output(input).is_ref) return input.node;
    return graph_.AddNode({.op = "Identity",
                           .name = place.call.name + "/input",
                           .inputs = {input},
                           .device = place.call.device,
                           .site = place.call.site});
  }

  void MoveBody(Placement& place) {
    const Graph& from = place.body.graph;
    place.moved.assign(static_cast<size_t>(from.num_nodes()), kNoNode);
    auto stays = [&](NodeId id) {
      return from.node(id).op_name() == "_Arg" || from.node(id).op_name() == "_Retval";
    };
    for (NodeId id = 0; id < from.num_nodes(); ++id) {
      if (stays(id)) continue;
      Node copy = from.node(id);
      copy.name = graph_.UniqueName(place.call.name + "/" + copy.name);
      if (copy.device.empty()) copy.device = place.call.device;
      copy.site = place.call.site;
      std::erase_if(copy.attrs, [](const auto& attr) { return attr.first == "_class"; });
      place.moved[id] = graph_.AddCopy(copy);
      ++added_;
    }
    for (NodeId id = 0; id < from.num_nodes(); ++id) {
      if (place.moved[id] != kNoNode) Connect(id, place);
    }
    for (const NodeId id : place.body.effects) {
      if (place.moved[id] != kNoNode) place.effects.push_back(place.moved[id]);
    }
  }

  OutputRef Source(const Placement& place, OutputRef ref) const {
    const Node& node = place.body.graph.node(ref.node);
    if (node.op_name() != "_Arg") return {place.moved[ref.node], ref.port};
    const auto index = std::find(place.body.args.begin(), place.body.args.end(), ref.node);
    return place.call.inputs[static_cast<size_t>(index - place.body.args.begin())];
  }

  void Connect(NodeId id, const Placement& place) {
    Node& node = graph_.node(place.moved[id]);
    bool reads_inside = false;
    for (OutputRef& input : node.inputs) {
      reads_inside |= place.body.graph.node(input.node).op_name() != "_Arg";
      input = Source(place, input);
    }
    std::vector<NodeId> controls = std::exchange(node.control_inputs, {});
    for (const NodeId control : controls) {
      if (place.moved[control] != kNoNode) node.control_inputs.push_back(place.moved[control]);
    }
    if (place.begin == kNoNode) return;
    // A constant is there from the start; in a branch or loop it must be there for that alone.
    const bool is_free = node.op_name() == "Const" && !has_control_flow_;
    const bool starts = !reads_inside && node.control_inputs.empty() && !is_free;
    if (starts || !node.op->traits.pure) graph_.AddControlInput(place.moved[id], place.begin);
  }

  // The call's place is taken by a NoOp of its name, which ends when all of the body has.
  Status ReplaceCall(NodeId id, const Placement& place) {
    std::vector<OutputRef> results;
    for (const OutputRef& ref : place.body.Results()) results.push_back(Source(place, ref));
    graph_.RemoveNode(id);
    NodeSpec end{.op = "NoOp",
                 .name = place.call.name,
                 .exact_name = true,
                 .control_inputs = place.effects,
                 .device = place.call.device,
                 .site = place.call.site};
    if (place.begin != kNoNode) end.control_inputs.push_back(place.begin);
    for (const OutputRef& ref : results) end.control_inputs.push_back(ref.node);
    std::sort(end.control_inputs.begin(), end.control_inputs.end());
    end.control_inputs.erase(std::unique(end.control_inputs.begin(), end.control_inputs.end()),
                             end.control_inputs.end());
    TRY_ASSIGN(const NodeId end_id, graph_.AddNode(std::move(end)));
    Replacement& replacement = replaced_[id];
    replacement.end = end_id;
    for (size_t i = 0; i < results.size(); ++i) {
      if (place.effects.empty() && !graph_.output(results[i]).is_ref) {
        replacement.outputs.push_back(results[i]);
        continue;
      }
      // Who reads a result comes after all that the function did.
      TRY_ASSIGN(const NodeId output, graph_.AddNode({.op = "Identity",
                                                      .name = place.call.name + "/result",
                                                      .inputs = {results[i]},
                                                      .control_inputs = {end_id},
                                                      .device = place.call.device,
                                                      .site = place.call.site}));
      replacement.outputs.push_back({output, 0});
    }
    return OkStatus();
  }

  // Points a node that reads calls that are gone at what took their place.
  void FollowReplaced(Node& node) const {
    for (OutputRef& input : node.inputs) {
      for (auto it = replaced_.find(input.node); it != replaced_.end();
           it = replaced_.find(input.node)) {
        input = it->second.outputs[static_cast<size_t>(input.port)];
      }
    }
    for (NodeId& control : node.control_inputs) control = EndOf(control);
  }

  NodeId EndOf(NodeId id) const {
    for (auto it = replaced_.find(id); it != replaced_.end(); it = replaced_.find(id))
      id = it->second.end;
    return id;
  }

  void Rewire() {
    if (replaced_.empty()) return;
    std::vector<NodeId>& targets = graph_.collections["targets"];
    for (NodeId& target : targets) target = EndOf(target);
    for (NodeId id = 0; id < graph_.num_nodes(); ++id) {
      if (graph_.IsLive(id)) FollowReplaced(graph_.node(id));
    }
    RemoveIdleEnds(targets);
    if (targets.empty()) graph_.collections.erase("targets");
  }

  // An end that nobody waits for orders nothing.
  void RemoveIdleEnds(const std::vector<NodeId>& targets) {
    std::vector<uint8_t> awaited(static_cast<size_t>(graph_.num_nodes()), 0);
    for (NodeId id = 0; id < graph_.num_nodes(); ++id) {
      if (!graph_.IsLive(id)) continue;
      for (const NodeId control : graph_.node(id).control_inputs) awaited[control] = 1;
    }
    for (const NodeId target : targets) awaited[target] = 1;
    for (const auto& [call, replacement] : replaced_) {
      if (awaited[replacement.end] == 0) graph_.RemoveNode(replacement.end);
    }
  }

  struct Replacement {
    NodeId end = kNoNode;
    std::vector<OutputRef> outputs;
  };

  Graph& graph_;
  const bool has_control_flow_;
  std::vector<Call> open_;
  std::unordered_map<std::string, int> calls_of_;  // by function, in this graph
  std::unordered_map<NodeId, Replacement> replaced_;
  int64_t added_ = 0;
};

}  // namespace

Status InlineCalls(Graph& graph) {
  if (graph.library().functions.empty()) return OkStatus();
  return Inliner(graph).Run();
}

}  // namespace penstock
