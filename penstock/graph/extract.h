#pragma once

#include <string>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/graph/function.h"
#include "penstock/graph/graph.h"

namespace penstock {

// A part of a graph that is to become a function: the nodes [first, end), written by somebody who
// was given the _Arg nodes `args` among them. What they read from before `first` are its captures.
struct TracedPart {
  NodeId first = 0;
  NodeId end = 0;
  std::vector<NodeId> args;
  std::vector<OutputRef> results;  // may be captures or arguments themselves
  std::vector<NodeId> effects;     // must run when the function does
};

// The outside values that the part reads, each once, in the order of their first use.
// InvalidArgument when it reads a node that is gone: one of another part.
Result<std::vector<OutputRef>> FindCaptures(const Graph& graph, const TracedPart& part);

// Makes the function: its arguments are those of the part, then one for each of `captures`. Nodes
// with effects run in the order they were written. Control inputs from outside are left out: they
// are the call's. REQUIRES: `captures` has all that the part captures.
Result<FunctionDef> ExtractFunction(const Graph& graph, const TracedPart& part,
                                    const std::vector<OutputRef>& captures,
                                    const std::string& name);

// Whether the part has a node with an effect.
bool HasEffects(const Graph& graph, const TracedPart& part);

// Takes the part's nodes out of the graph.
void RemovePart(Graph& graph, const TracedPart& part);

// Adds the function under a name made unique from its own, and returns that.
std::string AddToLibrary(Graph& graph, FunctionDef function);

}  // namespace penstock
