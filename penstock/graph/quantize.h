#pragma once

#include "penstock/core/status.h"
#include "penstock/graph/graph.h"

namespace penstock {

// Lets matrix products and convolutions of float by constants compute in 8 bits: weights are
// quantised once, when the graph is compiled, activations by the range that they have in each step.
// Sums are of 32 bits, and what follows is float again. Nodes keep their names. Returns how many
// there were.
Result<int> QuantizeProducts(Graph& graph);

}  // namespace penstock
