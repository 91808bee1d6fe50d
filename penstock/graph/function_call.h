#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/graph/function.h"
#include "penstock/graph/graph.h"

// Functions as those who call them see them.

namespace penstock {

// The function of that name. NotFound names it.
Result<const FunctionDef*> FindFunction(const FunctionLibrary& library, std::string_view name);

// Fills in the defaults of the attributes that a call leaves out. There are no inputs to tell what
// else was left out.
Status CompleteFunctionAttrs(const OpDef& signature, AttrMap* attrs);

// The dtypes of a function's arguments and results when it is called with these attributes.
Result<NodeTypes> FunctionTypes(const FunctionDef& function, const AttrMap& attrs);

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
