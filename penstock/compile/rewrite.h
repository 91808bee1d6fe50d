#pragma once

#include <vector>

#include "penstock/core/tensor.h"
#include "penstock/graph/graph.h"

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

// Makes the node a Const. Keeps its name, device, colocation and the readers of output 0; drops
// its inputs and control inputs.
Status TurnIntoConst(Graph& graph, NodeId id, const Tensor& value);

// Makes the node one of `op`, which computes the same outputs from other inputs. Keeps its name,
// device, colocation, control inputs and readers.
Status TurnInto(Graph& graph, NodeId id, const OpInfo& op, AttrMap attrs,
                std::vector<OutputRef> inputs);

// Removes those of `candidates` that nobody reads or waits for, and then what only they read. Keeps
// nodes that have an effect besides their outputs.
void RemoveUnread(Graph& graph, std::vector<NodeId> candidates);

}  // namespace penstock
