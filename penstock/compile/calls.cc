#include "penstock/compile/calls.h"

#include <unordered_set>
#include <vector>

#include "penstock/graph/function.h"
#include "penstock/graph/function_call.h"

namespace penstock {
namespace {

// The functions in a call: the one that is called, and those it is handed as attributes.
void AddNames(const FunctionName& function, std::vector<std::string>* names) {
  std::vector<const FunctionName*> open{&function};
  while (!open.empty()) {
    const FunctionName* next = open.back();
    open.pop_back();
    names->push_back(next->name);
    for (const FunctionName* inner : CalledFunctions(next->attrs)) open.push_back(inner);
  }
}

bool TakesFunctions(const OpDef& def) {
  for (const AttrDef& attr : def.attrs) {
    if (attr.kind.ends_with("func") || attr.kind.ends_with("func)")) return true;
  }
  return false;
}

}  // namespace

bool WaitingNodes::MayWait(const Node& node) {
  if (!node.op->traits.async) return false;
  const std::vector<const FunctionName*> functions = CalledFunctions(node.attrs);
  if (functions.empty()) return true;
  for (const FunctionName* function : functions) {
    if (FunctionMayWait(*function)) return true;
  }
  return false;
}

bool WaitingNodes::FunctionMayWait(const FunctionName& function) {
  std::vector<std::string> open;
  AddNames(function, &open);
  const bool is_plain = open.size() == 1;
  if (is_plain) {
    if (const auto known = known_.find(function.name); known != known_.end()) return known->second;
  }
  const FunctionLibrary& library = graph_.library();
  std::unordered_set<std::string> seen;
  bool waits = false;
  while (!waits && !open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!seen.insert(name).second) continue;
    const auto found = library.functions.find(name);
    waits = found == library.functions.end();
    if (waits) break;
    for (const FunctionNode& node : found->second->nodes) {
      const OpInfo* op = graph_.registry().Find(node.op);
      if (op == nullptr) open.push_back(node.op);
      waits |= op != nullptr && op->traits.async && !TakesFunctions(op->def);
      for (const FunctionName* inner : CalledFunctions(node.attrs)) AddNames(*inner, &open);
    }
  }
  if (is_plain) known_.emplace(function.name, waits);
  return waits;
}

bool MayWait(const Graph& graph) {
  WaitingNodes waiting(graph);
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (graph.IsLive(id) && waiting.MayWait(graph.node(id))) return true;
  }
  return false;
}

}  // namespace penstock
