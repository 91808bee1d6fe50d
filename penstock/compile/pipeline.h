#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/tensor.h"
#include "penstock/graph/graph.h"
#include "penstock/graph/schedule.h"

namespace penstock {

// Runs one node on constant inputs: how folding computes without seeing devices.
using Evaluator =
    std::function<Result<std::vector<Tensor>>(const Node& node, const std::vector<Tensor>& inputs)>;

// What a pass did, for those who want to see.
struct PassReport {
  std::string name;
  double milliseconds = 0;
  int nodes_before = 0;
  int nodes_after = 0;
};

struct CompileOptions {
  // Passes that are left out, by name; "prune", "reread", "infer" and "schedule" always run.
  // PENSTOCK_DISABLE_PASSES adds to it.
  std::vector<std::string> disabled_passes;
  // Called around each pass with its name, "before" or "after", and the graph.
  std::function<void(std::string_view pass, std::string_view when, const Graph& graph)> observer;
  Evaluator evaluator;  // null: nothing is folded
  int threads = 1;
};

// What a step asks of a graph.
struct CompileRequest {
  std::vector<OutputRef> feeds;
  std::vector<OutputRef> fetches;
  std::vector<NodeId> targets;
};

// A graph ready to run: feeds are _Arg nodes, fetches _Retval nodes, numbered as in the request.
struct Compiled {
  Graph graph;
  Schedule schedule;
  std::vector<PassReport> passes;
};

// Applies the passes in their order. The order is pipeline.cc's; each result is verified.
Result<Compiled> Compile(const Graph& graph, const CompileRequest& request,
                         const CompileOptions& options);

// The names of the passes that can be left out, in order.
std::vector<std::string> OptionalPasses();

}  // namespace penstock
