#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/graph/graph.h"
#include "penstock/graph/tensor_proto.h"

namespace penstock::tf {
class MetaGraphDef;
}  // namespace penstock::tf

namespace penstock {

// A way to call a graph: names of arguments and results, and the tensors ("node:0") that they stand
// for. Sparse and composite arguments stand for no single tensor and are left out here;
// MetaGraph::rest has them.
struct GraphSignature {
  std::map<std::string, std::string> inputs;
  std::map<std::string, std::string> outputs;
  std::string method_name;
};

// A graph with what a SavedModel or a ".meta" file says about it.
struct MetaGraph {
  Graph graph;
  // The MetaGraphDef without its graph_def, as bytes: collections, saver, assets, objects, and all
  // below.
  std::string rest;

  // Which of the graphs of a SavedModel this is: {"serve"}.
  Result<std::vector<std::string>> Tags() const;
  Result<std::map<std::string, GraphSignature>> Signatures() const;
};

// As GraphFromProto.
Result<MetaGraph> MetaGraphFromProto(const tf::MetaGraphDef& proto, const OpRegistry& registry,
                                     const ImportLimits& limits = {});
Result<MetaGraph> ParseMetaGraphDef(std::string_view wire, const OpRegistry& registry,
                                    const ImportLimits& limits = {});
Status MetaGraphToProto(const MetaGraph& meta, tf::MetaGraphDef* proto);
Result<std::string> SerializeMetaGraphDef(const MetaGraph& meta);

}  // namespace penstock
