#pragma once

#include <cstdint>
#include <initializer_list>

#include "penstock/graph/scope.h"

// What derivatives of shape-changing ops are written with.

namespace penstock::ops {

// Integer constants of dtype int32 or int64.
Expr IntScalar(const Scope& scope, int64_t value, DType dtype = DType::kInt32);
Expr IntVector(const Scope& scope, std::initializer_list<int64_t> values,
               DType dtype = DType::kInt32);
// The shape of `x` as an integer vector.
Expr ShapeOf(const Expr& x, DType dtype = DType::kInt32);
// `x` under the shape of `like`.
Expr ReshapeLike(const Expr& x, const Expr& like);
// The sum of all elements, a scalar.
Expr SumAll(const Expr& x);
// Sets the gradient of a table whose rows `indices` (input 1) were read, as rows and in full.
// `shape` is the table's, an int32 vector.
void SetLookedUpRows(Gradients& g, int table, const Expr& shape, const Expr& dense);
// `x` as that integer type; itself when it is one already.
Expr CastTo(const Expr& x, DType dtype);

}  // namespace penstock::ops
