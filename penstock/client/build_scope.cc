#include "penstock/client/build_scope.h"

#include <utility>

namespace penstock {
namespace {

// Innermost last. One stack a thread: scopes are a matter of who builds, not of the graph.
thread_local std::vector<std::pair<const Graph*, Scope>> open_scopes;

Scope Innermost(Graph& graph) {
  for (size_t i = open_scopes.size(); i > 0; --i) {
    if (open_scopes[i - 1].first == &graph) return open_scopes[i - 1].second;
  }
  return Scope(graph);
}

std::vector<NodeId> NodesOf(const std::vector<Operation>& operations) {
  std::vector<NodeId> nodes;
  for (const Operation& operation : operations) nodes.push_back(operation.node());
  return nodes;
}

}  // namespace

BuildScope::BuildScope(Graph& graph, Scope scope) {
  open_scopes.emplace_back(&graph, std::move(scope));
}
BuildScope::BuildScope(Graph& graph, Named name)
    : BuildScope(graph, Innermost(graph).Sub(name.name)) {}
BuildScope::BuildScope(Graph& graph, OnDevice device)
    : BuildScope(graph, Innermost(graph).OnDevice(device.device)) {}
BuildScope::BuildScope(Graph& graph, const After& operations)
    : BuildScope(graph, Innermost(graph).After(NodesOf(operations.operations))) {}
BuildScope::BuildScope(Graph& graph, With operation)
    : BuildScope(graph, Innermost(graph).With(operation.operation.node())) {}

BuildScope::~BuildScope() { open_scopes.pop_back(); }

Scope BuildScope::Current(Graph& graph, CallSite site) {
  return Innermost(graph).At(site).WithoutError();
}

}  // namespace penstock
