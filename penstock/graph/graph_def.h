#pragma once

#include <string>
#include <string_view>

#include "penstock/core/status.h"
#include "penstock/graph/graph.h"
#include "penstock/graph/tensor_proto.h"

namespace penstock::tf {
class GraphDef;
}  // namespace penstock::tf

namespace penstock {

// Makes the graph that a GraphDef describes. Nodes may come in any order; the only cycles are those
// that a NextIteration closes at a Merge. Each node is checked as Graph::AddNode does: NotFound for
// an op that is not registered, InvalidArgument for everything else that is wrong, naming the node.
// Attributes left out get their defaults. What we do not understand is kept in Node::extra and
// Graph::extra, and written again by GraphToProto. Takes time and memory linear in the message,
// beside what `limits` grant.
Result<Graph> GraphFromProto(const tf::GraphDef& proto, const OpRegistry& registry,
                             const ImportLimits& limits = {});
// From bytes, and from the text form (graph.pbtxt).
Result<Graph> ParseGraphDef(std::string_view wire, const OpRegistry& registry,
                            const ImportLimits& limits = {});
Result<Graph> ParseGraphDefText(std::string_view text, const OpRegistry& registry,
                                const ImportLimits& limits = {});

// Adds the nodes and functions of `proto`; inputs may name nodes that are already there. On error
// the graph is left as it was, but for ids that stay unused.
Status ExtendGraph(Graph* graph, const tf::GraphDef& proto, const ImportLimits& limits = {});
Status ExtendGraph(Graph* graph, std::string_view wire, const ImportLimits& limits = {});

Status GraphToProto(const Graph& graph, tf::GraphDef* proto);
// Equal graphs give equal bytes.
Result<std::string> SerializeGraphDef(const Graph& graph);

}  // namespace penstock
