#pragma once

#include <optional>

#include "penstock/graph/graph.h"

namespace penstock {

// Reads an integer vector that the graph computes as a partial shape: the Shape of a partly known
// tensor, a Pack or concatenation of such, casts of them. Nothing when it tells nothing.
std::optional<Shape> KnownExtents(const Graph& graph, OutputRef ref);

}  // namespace penstock
