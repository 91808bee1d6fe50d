#pragma once

#include "penstock/graph/graph.h"

namespace penstock {

// True when the node's shapes are fully known and its shape rule has nothing left to check at run
// time: the inputs' shapes are fully known too, and what values the rule reads are constants.
bool HasSettledShapes(const Graph& graph, const Node& node);

}  // namespace penstock
