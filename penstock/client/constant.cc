#include "penstock/client/constant.h"

namespace penstock::client_internal {

NodeId AddConstant(Graph& graph, const Tensor& value, CallSite site) {
  NodeSpec spec;
  spec.op = "Const";
  spec.attrs = {{"value", value}, {"dtype", value.dtype()}};
  return AddNode(graph, std::move(spec), site);
}

NodeId AddPlaceholder(Graph& graph, DType dtype, const Shape& shape, std::string_view name,
                      CallSite site) {
  NodeSpec spec;
  spec.op = "Placeholder";
  spec.name = name;
  spec.attrs = {{"dtype", dtype}, {"shape", shape}};
  return AddNode(graph, std::move(spec), site);
}

}  // namespace penstock::client_internal
