#pragma once

#include "penstock/core/status.h"
#include "penstock/graph/graph.h"

namespace penstock {

// Turns loops and branches made of primitives (Switch, Merge, Enter, ...) into While and If nodes,
// inner ones first; derivatives are defined over those. An Exit or Merge becomes an Identity of
// what took its place, under the same id and name; the other nodes of a loop leave the graph. What
// has another form than stock TensorFlow writes stays as it is: gradients do not go through it.
Status RaiseControlFlow(Graph& graph);

}  // namespace penstock
