#pragma once

#include <vector>

#include "penstock/core/tensor.h"
#include "penstock/graph/turn_into.h"

// What the passes that rewrite a graph share.

namespace penstock {

// A constant that is there from the start of a step: it waits for nothing and lives in no branch.
bool IsFreeConstant(const Node& node);

// True for ops that route values between branches and loop iterations: what they pass on may be
// dead, or belong to another frame, whatever its value.
bool IsControlFlow(const Node& node);
bool HasControlFlow(const Graph& graph);

// True when some input is a variable that the node reads when it runs.
bool ReadsVariable(const Graph& graph, const Node& node);

// Removes those of `candidates` that nobody reads or waits for, and then what only they read. Keeps
// nodes that have an effect besides their outputs.
void RemoveUnread(Graph& graph, std::vector<NodeId> candidates);

}  // namespace penstock
