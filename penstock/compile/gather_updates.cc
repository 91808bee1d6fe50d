#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"

namespace penstock {
namespace {

// A larger variable takes longer to move than to visit.
constexpr int64_t kSmallVariable = 16 << 10;
// So many variables, slots included, are locked together at most: fewer than the thread sanitizer
// can follow.
constexpr size_t kMostLocked = 48;

// A node that moves one variable and its slots by a gradient.
struct Update {
  NodeId id = kNoNode;
  std::vector<OutputRef> slots = {};
  std::vector<OutputRef> numbers = {};
  OutputRef gradient = {};
  bool flag = false;  // the switch of its rule
};

const std::string* StringAttr(const Node& node, std::string_view name) {
  const AttrValue* value = FindAttr(node.attrs, name);
  return value == nullptr ? nullptr : value->Get<std::string>();
}

// Where the state of a variable lives; none when its name is not all that tells.
std::optional<std::string> StateOf(const Node& handle) {
  if (handle.op_name() != "VarHandleOp") return {};
  const std::string* shared = StringAttr(handle, "shared_name");
  const std::string* container = StringAttr(handle, "container");
  return (container == nullptr ? std::string() : *container) + "/" +
         (shared == nullptr || shared->empty() ? handle.name : *shared);
}

bool IsSmall(const Node& handle) {
  const AttrValue* attr = FindAttr(handle.attrs, "shape");
  const Shape* shape = attr == nullptr ? nullptr : attr->Get<Shape>();
  return shape != nullptr && shape->IsFullyKnown() && shape->num_elements() <= kSmallVariable;
}

std::optional<Update> UpdateIn(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::string& op = node.op_name();
  if (!op.starts_with("ResourceApply") && !op.starts_with("_ResourceApply")) return {};
  Update update{.id = id};
  if (node.op->def.inputs.size() != node.inputs.size()) return {};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const std::string& argument = node.op->def.inputs[i].name;
    if (graph.output(node.inputs[i]).dtype == DType::kResource) {
      update.slots.push_back(node.inputs[i]);
      if (!IsSmall(graph.node(node.inputs[i].node))) return {};
    } else if (argument == "grad" || argument == "delta") {
      update.gradient = node.inputs[i];
    } else {
      update.numbers.push_back(node.inputs[i]);
    }
  }
  if (update.gradient.node == kNoNode || update.slots.empty()) return {};
  const DType dtype = graph.output(update.gradient).dtype;
  for (const OutputRef& number : update.numbers)
    if (graph.output(number).dtype != dtype) return {};
  for (const auto& [name, value] : node.attrs)
    if (const bool* set = value.Get<bool>(); set != nullptr && name != "use_locking")
      update.flag = *set;
  return update;
}

class Gatherer {
 public:
  Gatherer(Graph& graph, const OpInfo& op) : graph_(graph), op_(op) {}

  void Run() {
    for (NodeId id = 0; id < graph_.num_nodes(); ++id) {
      if (!graph_.IsLive(id)) continue;
      if (std::optional<Update> update = UpdateIn(graph_, id)) Group(*std::move(update));
    }
    for (const auto& [key, updates] : groups_) {
      const size_t together = std::max<size_t>(1, kMostLocked / updates[0].slots.size());
      for (size_t at = 0; at < updates.size(); at += together) {
        const auto begin = updates.begin() + static_cast<std::ptrdiff_t>(at);
        const size_t count = std::min(together, updates.size() - at);
        Gather({begin, begin + static_cast<std::ptrdiff_t>(count)});
      }
    }
  }

 private:
  using Numbers = std::vector<std::pair<NodeId, int32_t>>;
  using Key = std::tuple<std::string, std::string, DType, bool, Numbers>;

  // What differs in nothing but its variables and gradient goes together.
  void Group(Update update) {
    const Node& node = graph_.node(update.id);
    std::set<std::string> states;
    for (const OutputRef& slot : update.slots) {
      const std::optional<std::string> state = StateOf(graph_.node(slot.node));
      if (!state || states_.contains(*state)) return;
      states.insert(*state);
    }
    if (states.size() != update.slots.size()) return;
    states_.merge(states);
    Numbers numbers;
    for (const OutputRef& number : update.numbers) numbers.emplace_back(number.node, number.port);
    groups_[{node.op_name(), node.device, graph_.output(update.gradient).dtype, update.flag,
             numbers}]
        .push_back(std::move(update));
  }

  void Gather(const std::vector<Update>& updates) {
    if (updates.size() < 2 || Meet(updates)) return;
    std::vector<OutputRef> inputs, gradients;
    for (const Update& update : updates) {
      inputs.insert(inputs.end(), update.slots.begin(), update.slots.end());
      gradients.push_back(update.gradient);
    }
    const Update& first = updates[0];
    const AttrMap attrs = {{"op", graph_.node(first.id).op_name()},
                           {"flag", first.flag},
                           {"T", graph_.output(first.gradient).dtype},
                           {"M", static_cast<int64_t>(inputs.size())},
                           {"P", static_cast<int64_t>(first.numbers.size())},
                           {"N", static_cast<int64_t>(updates.size())}};
    inputs.insert(inputs.end(), first.numbers.begin(), first.numbers.end());
    inputs.insert(inputs.end(), gradients.begin(), gradients.end());
    // It refuses rules that do not move each element by itself.
    if (!TurnInto(graph_, first.id, op_, attrs, std::move(inputs)).ok()) return;
    for (size_t i = 1; i < updates.size(); ++i) Replace(updates[i].id, first.id);
  }

  // Whether one of them waits for another.
  bool Meet(const std::vector<Update>& updates) {
    if (successors_.empty()) FindSuccessors();
    std::set<NodeId> members;
    std::vector<NodeId> open;
    for (const Update& update : updates) {
      members.insert(update.id);
      open.push_back(update.id);
    }
    std::vector<bool> seen(static_cast<size_t>(graph_.num_nodes()));
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      for (const NodeId next : successors_[static_cast<size_t>(id)]) {
        if (members.contains(next)) return true;
        if (seen[static_cast<size_t>(next)]) continue;
        seen[static_cast<size_t>(next)] = true;
        open.push_back(next);
      }
    }
    return false;
  }
  void FindSuccessors() {
    successors_.resize(static_cast<size_t>(graph_.num_nodes()));
    for (NodeId id = 0; id < graph_.num_nodes(); ++id) {
      if (!graph_.IsLive(id)) continue;
      for (const OutputRef& input : graph_.node(id).inputs)
        if (input.node != kNoNode) successors_[static_cast<size_t>(input.node)].push_back(id);
      for (const NodeId control : graph_.node(id).control_inputs)
        successors_[static_cast<size_t>(control)].push_back(id);
    }
  }

  // Lets `to` wait for what `from` waited for, and those who waited for `from` wait for it.
  void Replace(NodeId from, NodeId to) {
    for (const NodeId control : graph_.node(from).control_inputs) AddOnce(to, control);
    for (const NodeId next : successors_[static_cast<size_t>(from)]) {
      std::erase(graph_.node(next).control_inputs, from);
      AddOnce(next, to);
      successors_[static_cast<size_t>(to)].push_back(next);
    }
    if (const auto targets = graph_.collections.find("targets");
        targets != graph_.collections.end())
      std::replace(targets->second.begin(), targets->second.end(), from, to);
    graph_.RemoveNode(from);
  }
  void AddOnce(NodeId id, NodeId control) {
    const std::vector<NodeId>& controls = graph_.node(id).control_inputs;
    if (std::find(controls.begin(), controls.end(), control) == controls.end())
      graph_.AddControlInput(id, control);
  }

  Graph& graph_;
  const OpInfo& op_;
  std::map<Key, std::vector<Update>> groups_;
  std::set<std::string> states_;  // of the variables in them: each is moved once
  std::vector<std::vector<NodeId>> successors_;
};

}  // namespace

Status GatherUpdates(Graph& graph) {
  const OpInfo* op = graph.registry().Find("_ResourceApplyMany");
  // A branch or an iteration is no place for the updates of another.
  if (op == nullptr || HasControlFlow(graph)) return OkStatus();
  Gatherer(graph, *op).Run();
  return OkStatus();
}

}  // namespace penstock
