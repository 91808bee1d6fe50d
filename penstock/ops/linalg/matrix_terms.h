#pragma once

#include "penstock/graph/scope.h"

// What derivatives of matrix decompositions are written with. Matrices are the last two axes.

namespace penstock::ops {

// op(a) op(b), where op() takes the adjoint when told; batches broadcast.
Expr MatrixProduct(const Expr& a, const Expr& b, bool adjoint_a = false, bool adjoint_b = false);
Expr Transposed(const Expr& x);
// The conjugate of the transpose.
Expr Adjoint(const Expr& x);
Expr LowerTriangle(const Expr& x);
Expr UpperTriangle(const Expr& x);
Expr DiagonalOf(const Expr& x);
Expr DiagonalMatrix(const Expr& diagonal);
Expr WithDiagonal(const Expr& x, const Expr& diagonal);
// Solves with one triangle of `a`.
Expr TriangularSolve(const Expr& a, const Expr& b, bool lower, bool adjoint = false);
// x, whose shape is that of a batch, as matrices of one element.
Expr AsMatrices(const Expr& x);
// 1 / x, and 0 where x is 0.
Expr SafeReciprocal(const Expr& x);
// Sums over batch axes along which `input` was broadcast against `other`.
Expr SumBroadcastBatch(const Expr& gradient, const Expr& input, const Expr& other);

}  // namespace penstock::ops
