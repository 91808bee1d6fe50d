#pragma once

#include "penstock/core/status.h"
#include "penstock/graph/function.h"
#include "penstock/graph/tensor_proto.h"

namespace penstock::tf {
class FunctionDef;
class FunctionDefLibrary;
}  // namespace penstock::tf

namespace penstock {

// Reads a function without looking into its body: ops, inputs and types are checked where it is
// called.
Result<FunctionDef> FunctionFromProto(const tf::FunctionDef& proto, ImportBudget* budget);
Status FunctionToProto(const FunctionDef& function, tf::FunctionDef* proto);

// Adds the functions and gradients of `proto`. A client sends its whole library again with every
// few nodes: equal definitions of a name are one, different ones InvalidArgument, and then
// `library` may hold a part.
Status AddToLibrary(const tf::FunctionDefLibrary& proto, ImportBudget* budget,
                    FunctionLibrary* library);
Status LibraryToProto(const FunctionLibrary& library, tf::FunctionDefLibrary* proto);

}  // namespace penstock
