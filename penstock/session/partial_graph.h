#pragma once

#include <string>
#include <vector>

#include "penstock/compile/pipeline.h"
#include "penstock/graph/graph.h"

namespace penstock {

// The graph of a step whose feeds come and whose fetches go while it runs: each feed is a _Recv,
// each fetch a _Send.
struct PartialGraph {
  struct Edge {
    OutputRef ref;     // in the session's graph
    std::string name;  // "x:0"
    std::string key;   // of the rendezvous
    OutputInfo info;
    // Of a fetch that may be on a branch that is not taken: here something arrives after its value,
    // or instead of it. Empty: the value always comes.
    std::string settled_key = {};
  };

  Graph graph;
  std::vector<NodeId> targets;  // what must run, the _Sends among it
  std::vector<Edge> feeds;
  std::vector<Edge> fetches;
  std::vector<std::vector<int>> needs;  // per fetch: the feeds without which it has no value
};

// REQUIRES: the request was checked against the graph. `device`: of the name that both ends get.
Result<PartialGraph> MakePartialGraph(const Graph& graph, const CompileRequest& request,
                                      const std::string& device);

}  // namespace penstock
