#pragma once

#include <vector>

#include "penstock/core/status.h"
#include "penstock/graph/graph.h"

// Nodes that become others in place, so that those who read them, and know their name or id, go on
// doing so.

namespace penstock {

// Makes the node one of `op`, which computes the same outputs from other inputs. Keeps its name,
// device, colocation, control inputs and readers.
Status TurnInto(Graph& graph, NodeId id, const OpInfo& op, AttrMap attrs,
                std::vector<OutputRef> inputs);
// Makes the node a Const. Keeps its name, device, colocation and the readers of output 0; drops
// its inputs and control inputs.
Status TurnIntoConst(Graph& graph, NodeId id, const Tensor& value);
// Makes the node hand on `value`, by its only output then; drops its other inputs.
Status TurnIntoIdentity(Graph& graph, NodeId id, OutputRef value);

}  // namespace penstock
