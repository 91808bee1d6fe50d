#pragma once

#include <vector>

#include "penstock/core/status.h"
#include "penstock/graph/function.h"
#include "penstock/graph/graph.h"

namespace penstock {

// A function with the values of its attributes, as a graph.
struct FunctionBody {
  Graph graph;
  std::vector<NodeId> args;     // the _Arg nodes, by index
  std::vector<NodeId> results;  // the _Retval nodes, by index
  // What must run although no result may depend on it: nodes with an effect and control results, in
  // the order of the program.
  std::vector<NodeId> effects;

  // What the results read.
  std::vector<OutputRef> Results() const;
  std::vector<OutputRef> Args() const;
};

// Makes the body of `function`: placeholders of attributes get their values, nodes may come in any
// order, ops that are functions of the library become calls, and the graph sees the same library.
// Where the author stated no order at all, nodes with effects run in the order they were written.
Result<FunctionBody> Instantiate(const FunctionLibrary& library, const FunctionName& function,
                                 const OpRegistry& registry);

}  // namespace penstock
