#include "penstock/client/operators.h"

namespace penstock::client_internal {
namespace {

NodeId Add(Graph& graph, std::string_view op, std::vector<OutputRef> inputs) {
  NodeSpec spec;
  spec.op = op;
  // The operand's line is the nearest thing to the operator's.
  spec.site = graph.node(inputs[0].node).site;
  spec.inputs = std::move(inputs);
  return AddNode(graph, std::move(spec), {});
}

}  // namespace

NodeId AddBinary(Graph& graph, std::string_view op, OutputRef a, OutputRef b) {
  return Add(graph, op, {a, b});
}
NodeId AddUnary(Graph& graph, std::string_view op, OutputRef a) { return Add(graph, op, {a}); }

}  // namespace penstock::client_internal
