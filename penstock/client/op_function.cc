#include "penstock/client/op_function.h"

namespace penstock::client_internal {

NodeId AddNode(Graph& graph, NodeSpec spec, CallSite site) {
  return OrThrow(BuildScope::Current(graph, site).AddNode(std::move(spec)));
}

}  // namespace penstock::client_internal
