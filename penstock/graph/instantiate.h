#pragma once

#include <string_view>
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

// The function of that name. NotFound names it.
Result<const Function*> FindFunction(const FunctionLibrary& library, std::string_view name);

// The dtypes of a function's arguments and results when it is called with these attributes.
Result<NodeTypes> FunctionTypes(const Function& function, const AttrMap& attrs);

// Makes the body of `function`: placeholders of attributes get their values, nodes may come in any
// order, ops that are functions of the library become calls, and the graph sees the same library.
// Where the author stated no order at all, nodes with effects run in the order they were written.
Result<FunctionBody> Instantiate(const FunctionLibrary& library, const FunctionName& function,
                                 const OpRegistry& registry);

// When the op of `spec` is a function of the library, makes it a call of that function: a
// PartitionedCall, or a StatefulPartitionedCall when the function has effects. True when it did.
Result<bool> TurnIntoCall(const FunctionLibrary& library, const std::vector<DType>& input_types,
                          NodeSpec* spec);

// The reverse, for those who write a graph down: a call that TurnIntoCall made becomes a node whose
// op is the function again. Other nodes stay as they are.
void TurnIntoOp(std::string* op, AttrMap* attrs);

// The functions that a node calls, by the attributes that name them.
std::vector<const FunctionName*> CalledFunctions(const AttrMap& attrs);

}  // namespace penstock
