#include <initializer_list>

#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/linalg/matrix_terms.h"
#include "penstock/ops/linalg/spectral.h"

namespace penstock::ops {
namespace {

// 1 / (x_j - x_i), and 0 on the diagonal.
Expr ReciprocalDifferences(const Expr& x) {
  const Scope& s = x.scope();
  const Expr differences =
      Op("ExpandDims", x, IntScalar(s, -2)) - Op("ExpandDims", x, IntScalar(s, -1));
  return WithDiagonal(SafeReciprocal(differences), Op("ZerosLike", x));
}

// The extent of the axis `from_end`, a scalar.
Expr ExtentFromEnd(const Expr& x, int from_end) {
  const Scope& s = x.scope();
  return s.Add(
      "StridedSlice",
      {ShapeOf(x), IntVector(s, {-from_end}), IntVector(s, {1 - from_end}), IntVector(s, {1})},
      {{"end_mask", from_end == 1 ? 1 : 0}, {"shrink_axis_mask", 1}});
}

// The first n columns of matrices, and the others, of which there may be none.
Expr FirstColumns(const Expr& x, const Expr& n) {
  const Scope& s = x.scope();
  const Expr end = s.Add("Pack", {IntScalar(s, 0), n}, {{"N", 2}});
  return s.Add("StridedSlice", {x, IntVector(s, {0, 0}), end, IntVector(s, {1, 1})},
               {{"ellipsis_mask", 1}});
}
Expr OtherColumns(const Expr& x, const Expr& n) {
  const Scope& s = x.scope();
  const Expr begin = s.Add("Pack", {IntScalar(s, 0), n}, {{"N", 2}});
  return s.Add("StridedSlice", {x, begin, IntVector(s, {0, 0}), IntVector(s, {1, 1})},
               {{"ellipsis_mask", 1}, {"end_mask", 2}});
}

// x times the adjoint of the inverse of the upper triangle r.
Expr TimesAdjointInverse(const Expr& x, const Expr& r) {
  return Adjoint(TriangularSolve(r, Adjoint(x), false));
}

// d(input) for q and r of matrices with at least as many rows as columns.
Expr TallQrGradient(const Expr& q, const Expr& r, const Expr& dq, const Expr& dr) {
  const Expr qdq = MatrixProduct(q, dq, true);
  const Expr rdr = MatrixProduct(r, dr, false, true);
  const Expr triangle = LowerTriangle(qdq - Adjoint(qdq) + rdr - Adjoint(rdr));
  Expr gradient = MatrixProduct(q, dr + TimesAdjointInverse(triangle, r)) +
                  TimesAdjointInverse(dq - MatrixProduct(q, qdq), r);
  if (IsComplex(q.dtype())) {
    const Expr diagonal = DiagonalOf(rdr - Adjoint(qdq));
    const Expr imaginary = (diagonal - Conj(diagonal)) * 0.5;
    const Expr turn = WithDiagonal(Op("ZerosLike", qdq), Conj(imaginary));
    gradient = gradient + TimesAdjointInverse(MatrixProduct(q, turn), r);
  }
  return gradient;
}

}  // namespace

// Wide matrices are a square part and columns beside it, of which tall ones have none.
void Qr::Gradient(Gradients& g) const {
  const Expr a = g.input(0), q = g.output(0), r = g.output(1), dq = g.dy(0), dr = g.dy(1);
  const Shape& shape = a.shape();
  if (full_matrices && shape.has_rank() && RowsOf(shape) > ColsOf(shape) && ColsOf(shape) >= 0) {
    return g.scope().Fail(Unimplemented("Qr with full_matrices has no gradient for tall matrices"));
  }
  const Expr n = ExtentFromEnd(q, 2);
  const Expr dv = OtherColumns(dr, n);
  const Expr beside = MatrixProduct(OtherColumns(a, n), dv, false, true);
  const Expr square = TallQrGradient(q, FirstColumns(r, n), dq + beside, FirstColumns(dr, n));
  g.Set(0, g.scope().Add("ConcatV2", {square, MatrixProduct(q, dv), IntScalar(g.scope(), -1)},
                         {{"N", 2}}));
}

// The projections onto what the columns of u and v do not span vanish where these are square, so
// that tall and wide matrices need no cases.
template <FixedString Name, class T>
void SvdOp<Name, T>::Gradient(Gradients& g) const {
  const Expr a = g.input(0), ds = g.dy(0);
  if (!compute_uv) {
    const Expr again = Op("Svd", a, {{"compute_uv", true}, {"full_matrices", false}});
    g.Set(0, MatrixProduct(again.Output(1),
                           MatrixProduct(DiagonalMatrix(ds), again.Output(2), false, true)));
    return;
  }
  const Expr s = g.output(0), n = ExtentFromEnd(s, 1);
  auto first = [&](const Expr& x) { return full_matrices ? FirstColumns(x, n) : x; };
  const Expr u = first(g.output(1)), v = first(g.output(2));
  const Expr du = first(g.dy(1)), dv = first(g.dy(2));
  const Expr u_du = MatrixProduct(u, du, true), v_dv = MatrixProduct(v, dv, true);
  const Expr f = ReciprocalDifferences(s * s);
  const Expr fu = f * u_du, fv = f * v_dv;
  const Expr s_matrix = DiagonalMatrix(s), s_inverse = DiagonalMatrix(SafeReciprocal(s));
  Expr middle = DiagonalMatrix(ds) + MatrixProduct(fu + Adjoint(fu), s_matrix) +
                MatrixProduct(s_matrix, fv + Adjoint(fv));
  if (IsComplex(a.dtype())) {
    // The phases of u and v are free: they follow the one with more rows.
    const Expr of_u = DiagonalOf(u_du), of_v = DiagonalOf(v_dv);
    const Expr tall = Op("Greater", ExtentFromEnd(a, 2), ExtentFromEnd(a, 1));
    const Expr turn = Op("SelectV2", tall, of_u - Conj(of_u), Conj(of_v) - of_v);
    middle = middle + DiagonalMatrix(turn * 0.5 * SafeReciprocal(s));
  }
  // What of dx lies outside of the space that x spans.
  auto outside = [&](const Expr& x, const Expr& dx, const Expr& x_dx, const Expr& whole,
                     const Expr& dwhole) {
    const Expr rest = dx - MatrixProduct(x, x_dx);
    if (!full_matrices) return rest;
    const Expr other = OtherColumns(whole, n), dother = OtherColumns(dwhole, n);
    return rest - MatrixProduct(other, MatrixProduct(dother, x, true));
  };
  const Expr u_outside = outside(u, du, u_du, g.output(1), g.dy(1));
  const Expr v_outside = outside(v, dv, v_dv, g.output(2), g.dy(2));
  g.Set(0, MatrixProduct(MatrixProduct(u, middle) + MatrixProduct(u_outside, s_inverse), v, false,
                         true) +
               MatrixProduct(u, MatrixProduct(s_inverse, v_outside, false, true)));
}

// Only the lower triangle of the input is read, so only it gets a gradient.
template <FixedString Name, class T>
void SelfAdjointEigV2Op<Name, T>::Gradient(Gradients& g) const {
  const Expr e = g.output(0), de = DiagonalMatrix(g.dy(0));
  Expr v = g.output(1), middle = de;
  if (compute_v) {
    middle = de + ReciprocalDifferences(e) * MatrixProduct(v, g.dy(1), true);
  } else {
    v = Op("SelfAdjointEigV2", g.input(0), {{"compute_v", true}}).Output(1);
  }
  const Expr whole = MatrixProduct(v, MatrixProduct(middle, v, false, true));
  const Expr lower = LowerTriangle(whole + Adjoint(whole));
  g.Set(0, WithDiagonal(lower, DiagonalOf(lower) * 0.5));
}

void Eig::Gradient(Gradients& g) const {
  const Expr de = DiagonalMatrix(g.dy(0));
  Expr v = g.output(1), middle = de;
  if (compute_v) {
    const Expr vdv = MatrixProduct(v, g.dy(1), true);
    const Expr diagonal = DiagonalOf(vdv);
    // Eigenvectors are of length 1: what would lengthen them counts for nothing.
    const Expr stretch =
        MatrixProduct(MatrixProduct(v, v, true), DiagonalMatrix((diagonal + Conj(diagonal)) * 0.5));
    middle = de + Conj(ReciprocalDifferences(g.output(0))) * (vdv - stretch);
  } else {
    const DType complex = g.output(0).dtype();
    v = Op("Eig", g.input(0), {{"compute_v", true}, {"Tout", complex}}).Output(1);
  }
  const Expr vt = Adjoint(v);
  const Expr gradient = Op("MatrixSolve", vt, MatrixProduct(middle, vt));
  g.Set(0, CastTo(gradient, g.input(0).dtype()));
}

// With y y = x: dx y^T + y^T dx = dy, solved as one system of the elements of dx. Complex numbers
// are not conjugated, as TensorFlow has it.
void MatrixSquareRoot::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const Expr y = g.output(0), shape = ShapeOf(g.input(0));
  const Expr batch =
      s.Add("StridedSlice", {shape, IntVector(s, {0}), IntVector(s, {-2}), IntVector(s, {1})},
            {{"begin_mask", 1}});
  const Expr n =
      s.Add("StridedSlice", {shape, IntVector(s, {-1}), IntVector(s, {0}), IntVector(s, {1})},
            {{"end_mask", 1}});
  const Expr eye = WithDiagonal(Op("ZerosLike", y), Op("OnesLike", DiagonalOf(y)));
  auto kronecker = [&](const Expr& a, const Expr& b) {
    return s.Add("Einsum", {a, b}, {{"equation", "...ij,...kl->...ikjl"}, {"N", 2}});
  };
  const Expr system = kronecker(Transposed(y), eye) + kronecker(eye, y);
  const Expr zero = IntScalar(s, 0);
  const Expr square = s.Add("ConcatV2", {batch, n * n, n * n, zero}, {{"N", 3}});
  const Expr column = s.Add("ConcatV2", {batch, n * n, IntVector(s, {1}), zero}, {{"N", 3}});
  const Expr solved =
      Op("MatrixSolve", Op("Reshape", system, square), Op("Reshape", g.dy(), column));
  g.Set(0, Op("Reshape", solved, shape));
}

// The ops are registered in spectral.cc.
template void SvdOp<"Svd", DecomposableType<"T">>::Gradient(Gradients&) const;
template void SvdOp<"BatchSvd", TypeVar<"T", double, float, complex64, complex128>>::Gradient(
    Gradients&) const;
template void SelfAdjointEigV2Op<"SelfAdjointEigV2", DecomposableType<"T">>::Gradient(
    Gradients&) const;
template void SelfAdjointEigV2Op<"BatchSelfAdjointEigV2", TypeVar<"T", double, float>>::Gradient(
    Gradients&) const;

}  // namespace penstock::ops
