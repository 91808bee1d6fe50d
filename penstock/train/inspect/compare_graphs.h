#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "penstock/train/loop/feeds.h"
#include "penstock/train/loop/training_place.h"

namespace penstock {

// One of two graphs that are to compute the same, such as a model and its port.
struct ComparedGraph {
  Session& session;
  Graph& graph;
};

struct CompareOptions {
  double absolute = 1e-6;  // |a - b| <= absolute + relative * |b|
  double relative = 1e-4;
  // Values of the first graph and those of the second that they are compared with, where the names
  // differ ("node" or "node:port").
  std::map<std::string, std::string> names = {};
};

// The first value, in the order they are computed, that differs.
struct GraphDifference {
  std::string name;         // in the first graph
  std::string why;          // "element 3 is 0.5 vs 0.25; 7 of 10 differ", "shape [2] vs [3]"
  std::string description;  // the node of the first graph, with op and line, and the second's
};

struct GraphComparison {
  int64_t num_equal = 0;                       // values that agree, before the first that does not
  std::vector<std::string> not_compared = {};  // values of the first graph that the second has not
  std::optional<GraphDifference> first_difference = {};

  // Agreeing about nothing is no agreement.
  bool same() const { return num_equal > 0 && !first_difference; }
  std::string ToString() const;
};

// Feeds both graphs the same and compares all values on the way to `target` (a name of the first
// graph) that both have by name. Throws when a name is unknown.
GraphComparison CompareGraphs(ComparedGraph a, ComparedGraph b, const NamedTensors& feeds,
                              const std::string& target, const CompareOptions& options = {});

}  // namespace penstock
