#pragma once

#include <cstdint>
#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

// How a compiled graph is to run: made by compile/, obeyed by execute/.
struct Schedule {
  // All nodes, each after its inputs.
  std::vector<NodeId> order;
  // True: one thread runs the nodes in this order, with no counters. False: a node runs as soon as
  // its inputs are there.
  bool sequential = true;
  // Bytes of the arena, and per node and output its place there or -1. Empty, or as long as the
  // graph has nodes; only a sequential schedule has one, since places are shared by values that are
  // not alive together in that order.
  int64_t arena_bytes = 0;
  std::vector<std::vector<int64_t>> places;
};

}  // namespace penstock
