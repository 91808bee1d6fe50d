#pragma once

#include "penstock/client/session.h"

namespace penstock {

// A copy of the graph in which variables are constants of the values they have in `session`, for
// those who only compute with it from now on. Throws when a variable holds nothing yet.
Graph FreezeVariables(const Graph& graph, Session& session);
// A copy in which matrix products and convolutions by constants compute in 8 bits (see
// graph/quantize.h). Freeze variables first.
Graph QuantizeToBytes(const Graph& graph);

}  // namespace penstock
