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

// The columns [begin, end) of matrices; end 0: all from begin on.
Expr Columns(const Expr& x, int64_t begin, int64_t end) {
  const Scope& s = x.scope();
  return s.Add("StridedSlice",
               {x, IntVector(s, {0, begin}), IntVector(s, {0, end}), IntVector(s, {1, 1})},
               {{"ellipsis_mask", 1}, {"end_mask", end == 0 ? 2 : 0}});
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

bool HasExtents(const Shape& matrices) {
  return matrices.has_rank() && RowsOf(matrices) >= 0 && ColsOf(matrices) >= 0;
}

}  // namespace

void Qr::Gradient(Gradients& g) const {
  const Expr a = g.input(0), q = g.output(0), r = g.output(1), dq = g.dy(0), dr = g.dy(1);
  const bool known = HasExtents(a.shape());
  const int64_t rows = known ? RowsOf(a.shape()) : 0, cols = known ? ColsOf(a.shape()) : 0;
  if (full_matrices && (!known || rows > cols)) {
    return g.scope().Fail(Unimplemented("Qr with full_matrices has no gradient for tall matrices"));
  }
  // Matrices of unknown extents are taken to be tall.
  if (rows >= cols) return g.Set(0, TallQrGradient(q, r, dq, dr));
  const Expr dv = Columns(dr, rows, 0);
  const Expr x = TallQrGradient(q, Columns(r, 0, rows),
                                dq + MatrixProduct(Columns(a, rows, 0), dv, false, true),
                                Columns(dr, 0, rows));
  g.Set(0,
        g.scope().Add("ConcatV2", {x, MatrixProduct(q, dv), IntScalar(g.scope(), -1)}, {{"N", 2}}));
}

template <FixedString Name, class T>
void SvdOp<Name, T>::Gradient(Gradients& g) const {
  const Expr a = g.input(0), ds = g.dy(0);
  if (!compute_uv) {
    const Expr again = Op("Svd", a, {{"compute_uv", true}, {"full_matrices", false}});
    g.Set(0, MatrixProduct(again.Output(1),
                           MatrixProduct(DiagonalMatrix(ds), again.Output(2), false, true)));
    return;
  }
  if (!HasExtents(a.shape())) {
    return g.scope().Fail(
        Unimplemented("the gradient of {} needs matrices of known extents", kName));
  }
  int64_t rows = RowsOf(a.shape()), cols = ColsOf(a.shape());
  // Of tall matrices the adjoint's gradient is computed.
  const bool flipped = rows > cols;
  if (flipped) std::swap(rows, cols);
  if (full_matrices && cols - rows > 1) {
    return g.scope().Fail(Unimplemented(
        "{} with full_matrices has no gradient when rows and columns differ by more than 1",
        kName));
  }
  const Expr s = g.output(0);
  const Expr u = g.output(flipped ? 2 : 1), v = g.output(flipped ? 1 : 2);
  const Expr du = g.dy(flipped ? 2 : 1), dv = g.dy(flipped ? 1 : 2);
  const Expr s_matrix = DiagonalMatrix(s);
  const Expr f = ReciprocalDifferences(s * s);
  const Expr v1 = full_matrices && rows < cols ? Columns(v, 0, rows) : v;
  const Expr dv1 = full_matrices && rows < cols ? Columns(dv, 0, rows) : dv;
  const Expr v_dv = MatrixProduct(v1, dv1, true);
  const Expr fu = f * MatrixProduct(u, du, true), fv = f * v_dv;
  const Expr middle = DiagonalMatrix(ds) + MatrixProduct(fu + Adjoint(fu), s_matrix) +
                      MatrixProduct(s_matrix, fv + Adjoint(fv));
  Expr gradient = MatrixProduct(u, MatrixProduct(middle, v1, false, true));
  const Expr s_inverse = DiagonalMatrix(SafeReciprocal(s));
  if (rows < cols) {
    Expr outside = Adjoint(dv1) - MatrixProduct(MatrixProduct(dv1, v1, true), v1, false, true);
    if (full_matrices) {
      const Expr v2 = Columns(v, rows, cols), dv2 = Columns(dv, rows, cols);
      outside = outside - MatrixProduct(MatrixProduct(v1, dv2, true), v2, false, true);
    }
    gradient = gradient + MatrixProduct(MatrixProduct(u, s_inverse), outside);
  }
  if (IsComplex(a.dtype())) {
    const Expr diagonal = DiagonalOf(v_dv);
    const Expr turn = DiagonalMatrix((Conj(diagonal) - diagonal) * 0.5 * SafeReciprocal(s));
    gradient = gradient + MatrixProduct(u, MatrixProduct(turn, v1, false, true));
  }
  g.Set(0, flipped ? Adjoint(gradient) : gradient);
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

// With y y = x: dy y^H + y^H dy = dx, solved as one system of the elements of dx.
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
  const Expr system = kronecker(Adjoint(y), eye) + kronecker(eye, Conj(y));
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
