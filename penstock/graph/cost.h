#pragma once

#include "penstock/graph/graph.h"

namespace penstock {

// A rough count of a node's cycles from its op and shapes. A value of unknown size counts as
// `unknown_elements`.
double EstimateCycles(const Graph& graph, const Node& node, double unknown_elements);

}  // namespace penstock
