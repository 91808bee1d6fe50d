#include "penstock/client/op_function.h"

namespace penstock::client_internal {

NodeId AddNode(Graph& graph, NodeSpec spec, CallSite site) {
  return OrThrow(BuildScope::Current(graph, site).AddNode(std::move(spec)));
}

NodeId AddTyped(Graph& graph, const char* name, std::vector<OutputRef> inputs,
                AttrMap (*encode)(const void*), const void* op, CallSite site) {
  NodeSpec spec;
  spec.op = name;
  spec.inputs = std::move(inputs);
  spec.attrs = encode(op);
  return AddNode(graph, std::move(spec), site);
}

}  // namespace penstock::client_internal
