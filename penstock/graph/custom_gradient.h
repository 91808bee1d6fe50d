#pragma once

#include "penstock/graph/attr_value.h"
#include "penstock/graph/scope.h"

namespace penstock {

// The derivative that the library names for a function (FunctionLibrary::gradients): adds a call of
// `gradient`, a function of the arguments, then of what arrives at each result; or of the
// arguments, the results, and what arrives. It returns the gradients of the arguments in order;
// those that it leaves out have none.
Status CallGradientFunction(Gradients& g, const FunctionName& gradient);

}  // namespace penstock
