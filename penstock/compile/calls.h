#pragma once

#include <string>
#include <unordered_map>

#include "penstock/graph/attr_value.h"
#include "penstock/graph/graph.h"

namespace penstock {

// Tells which nodes may wait for something outside their step: ops that say so, and calls of
// functions that somewhere inside have such an op. A function that is not there, or whose body
// cannot be told, counts as waiting.
class WaitingNodes {
 public:
  explicit WaitingNodes(const Graph& graph) : graph_(graph) {}
  bool MayWait(const Node& node);

 private:
  bool FunctionMayWait(const FunctionName& function);

  const Graph& graph_;
  std::unordered_map<std::string, bool> known_;  // by function
};

// Whether any node of the graph may wait.
bool MayWait(const Graph& graph);

}  // namespace penstock
