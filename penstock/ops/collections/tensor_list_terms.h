#pragma once

#include "penstock/graph/scope.h"

// Terms that the gradients of several list ops share.

namespace penstock::ops {

// A constant vector of one int32.
Expr IntegerVector(const Scope& scope, int32_t value);
// The shape of the rows of x, as an int32 vector.
Expr RowShape(const Expr& x);
// The shape that a list declares for its elements, as an int32 tensor.
Expr ElementShapeOf(const Expr& list);
// The attribute that names the dtype of the elements.
AttrMap ElementType(DType dtype);

}  // namespace penstock::ops
