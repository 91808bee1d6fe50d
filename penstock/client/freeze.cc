#include "penstock/client/freeze.h"

#include <string>
#include <vector>

#include "penstock/client/error.h"
#include "penstock/graph/quantize.h"
#include "penstock/graph/turn_into.h"

namespace penstock {
namespace {

// Nodes that read a variable, and nothing else.
std::vector<NodeId> FindReads(const Graph& graph) {
  std::vector<NodeId> reads;
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id) || graph.node(id).inputs.size() != 1) continue;
    const Node& node = graph.node(id);
    const Node& from = graph.node(node.inputs[0].node);
    const bool of_reference = node.op_name() == "Identity" &&
                              (from.op_name() == "VariableV2" || from.op_name() == "Variable");
    const bool of_handle = node.op_name() == "ReadVariableOp" && from.op_name() == "VarHandleOp";
    if (of_reference || of_handle) reads.push_back(id);
  }
  return reads;
}

}  // namespace

Graph FreezeVariables(const Graph& graph, Session& session) {
  const std::vector<NodeId> reads = FindReads(graph);
  std::vector<std::string> names;
  for (const NodeId id : reads) names.push_back(graph.NameOf({id, 0}));
  Graph frozen = graph.Clone();
  if (names.empty()) return frozen;
  const std::vector<Tensor> values = session.Run({}, names);
  for (size_t i = 0; i < reads.size(); ++i) OrThrow(TurnIntoConst(frozen, reads[i], values[i]));
  return frozen;
}

Graph QuantizeToBytes(const Graph& graph) {
  Graph quantized = graph.Clone();
  OrThrow(QuantizeProducts(quantized));
  return quantized;
}

}  // namespace penstock
