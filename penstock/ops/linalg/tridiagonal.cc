#include "penstock/ops/linalg/tridiagonal.h"

#include "penstock/kernels/linalg/tridiagonal.h"
#include "penstock/ops/gradient_terms.h"

namespace penstock::ops {
namespace {

// Diagonals [..., rows, n] of matrices that stand before rhs [..., n, columns].
Result<Shape> InferWithDiagonals(const Shape& diagonals, int64_t rows, const Shape& rhs) {
  TRY(CheckRankAtLeast(diagonals, 2, "a diagonal"));
  TRY(CheckRankAtLeast(rhs, 2, "rhs"));
  if (!diagonals.has_rank()) return rhs;
  TRY(AgreedExtent(rows, RowsOf(diagonals), "diagonals must be stored in so many rows").status());
  if (!rhs.has_rank()) return rhs;
  TRY_ASSIGN(const Shape batch, MergeShapes(BatchOf(diagonals), BatchOf(rhs)));
  TRY_ASSIGN(const int64_t n, AgreedExtent(ColsOf(diagonals), RowsOf(rhs),
                                           "diagonals and the rows of rhs must have one length"));
  return MatricesOf(batch, n, ColsOf(rhs));
}

MatrixWork LinearWork(const MatrixExtents& b) {
  MatrixWork work;
  work.cycles = 20.0 * static_cast<double>(b.size() + b.rows);
  work.if_singular = "Input matrix is not invertible.";
  return work;
}

// The row `i` of matrices, [..., 1, n].
Expr RowOf(const Expr& x, int64_t i) {
  const Scope& s = x.scope();
  return s.Add("StridedSlice",
               {x, IntVector(s, {0, i, 0}), IntVector(s, {0, i + 1, 0}), IntVector(s, {1, 1, 1})},
               {{"ellipsis_mask", 1}, {"begin_mask", 4}, {"end_mask", 4}});
}

// The first or the last entries along an axis from the end, moved by one, a zero in the free place.
Expr Shifted(const Expr& x, int axis_from_end, bool forwards) {
  const Scope& s = x.scope();
  const bool last = axis_from_end == 1;
  const int64_t begin = forwards ? 0 : 1, end = forwards ? -1 : 0;
  // [..., axis] or [..., axis, :]
  const Expr part =
      last ? s.Add("StridedSlice",
                   {x, IntVector(s, {0, begin}), IntVector(s, {0, end}), IntVector(s, {1, 1})},
                   {{"ellipsis_mask", 1}, {"end_mask", forwards ? 0 : 2}})
           : s.Add("StridedSlice",
                   {x, IntVector(s, {0, begin, 0}), IntVector(s, {0, end, 0}),
                    IntVector(s, {1, 1, 1})},
                   {{"ellipsis_mask", 1}, {"begin_mask", 4}, {"end_mask", forwards ? 4 : 6}});
  const Expr first =
      last ? s.Add("StridedSlice",
                   {x, IntVector(s, {0, 0}), IntVector(s, {0, 1}), IntVector(s, {1, 1})},
                   {{"ellipsis_mask", 1}})
           : RowOf(x, 0);
  const Expr zero = Op("ZerosLike", first), axis = IntScalar(s, -axis_from_end);
  return forwards ? s.Add("ConcatV2", {zero, part, axis}, {{"N", 2}})
                  : s.Add("ConcatV2", {part, zero, axis}, {{"N", 2}});
}

// sum over columns of a * conj(b), as a row [..., 1, n].
Expr RowSums(const Expr& a, const Expr& b) {
  const Scope& s = a.scope();
  return Op("ExpandDims", Op("Sum", a * Conj(b), IntScalar(s, -1)), IntScalar(s, -2));
}

// A row of diagonals as a column beside the rows of a matrix: [..., 1, n] to [..., n, 1].
Expr AsColumn(const Expr& row) {
  const Scope& s = row.scope();
  return Op("ExpandDims", Op("Squeeze", row, {{"squeeze_dims", std::vector<int64_t>{-2}}}),
            IntScalar(s, -1));
}

}  // namespace

Status TridiagonalSolve::CheckAttrs() const {
  if (!perturb_singular) return OkStatus();
  return Unimplemented("TridiagonalSolve knows no perturb_singular");
}

Result<Shape> TridiagonalSolve::InferShape(const Shape& diagonals, const Shape& rhs) const {
  return InferWithDiagonals(diagonals, 3, rhs);
}

// With the transposed matrix, whose diagonals change places and move by one. Complex numbers are
// not conjugated, as TensorFlow has it.
void TridiagonalSolve::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const Expr diagonals = g.input(0), x = Conj(g.output(0));
  const Expr rows[] = {Shifted(RowOf(diagonals, 2), 1, false), RowOf(diagonals, 1),
                       Shifted(RowOf(diagonals, 0), 1, true)};
  const Expr transposed =
      s.Add("ConcatV2", {rows[0], rows[1], rows[2], IntScalar(s, -2)}, {{"N", 3}});
  const Expr db = Op("TridiagonalSolve", transposed, g.dy(),
                     {{"partial_pivoting", partial_pivoting}, {"perturb_singular", false}});
  g.Set(0, -s.Add("ConcatV2",
                  {RowSums(db, Shifted(x, 2, false)), RowSums(db, x),
                   RowSums(db, Shifted(x, 2, true)), IntScalar(s, -2)},
                  {{"N", 3}}));
  g.Set(1, db);
}

Status TridiagonalSolve::ComputeCpu(CpuContext& context, const Tensor& diagonals, const Tensor& rhs,
                                    Tensor& output) const {
  const MatrixExtents b(rhs.shape());
  if (b.empty()) return OkStatus();
  TRY_ASSIGN(Tensor scratch, context.Allocate(diagonals.dtype(), diagonals.shape()));
  return ForDType(diagonals.dtype(), DecomposedTypes(), [&]<class V>() {
    return ForEachMatrix(context, b.count, LinearWork(b), [&](int64_t i) {
      const V* above = diagonals.data<V>() + i * 3 * b.rows;
      return kernels::TridiagonalSolve<V>({above, above + b.rows, above + 2 * b.rows, b.rows},
                                          rhs.data<V>() + i * b.size(), b.cols, partial_pivoting,
                                          scratch.mutable_data<V>() + i * 3 * b.rows,
                                          output.mutable_data<V>() + i * b.size());
    });
  });
}

Result<Shape> TridiagonalMatMul::InferShape(const Shape& superdiag, const Shape& maindiag,
                                            const Shape& subdiag, const Shape& rhs) const {
  Shape shape = rhs;
  for (const Shape* diagonal : {&superdiag, &maindiag, &subdiag}) {
    TRY_ASSIGN(shape, InferWithDiagonals(*diagonal, 1, shape));
  }
  return shape;
}

void TridiagonalMatMul::Gradient(Gradients& g) const {
  const Expr b = g.input(3), dy = g.dy();
  g.Set(0, RowSums(dy, Shifted(b, 2, false)));
  g.Set(1, RowSums(dy, b));
  g.Set(2, RowSums(dy, Shifted(b, 2, true)));
  g.Set(3, Shifted(AsColumn(Conj(g.input(0))) * dy, 2, true) + AsColumn(Conj(g.input(1))) * dy +
               Shifted(AsColumn(Conj(g.input(2))) * dy, 2, false));
}

Status TridiagonalMatMul::ComputeCpu(CpuContext& context, const Tensor& superdiag,
                                     const Tensor& maindiag, const Tensor& subdiag,
                                     const Tensor& rhs, Tensor& output) const {
  const MatrixExtents b(rhs.shape());
  if (b.empty()) return OkStatus();
  return ForDType(rhs.dtype(), DecomposedTypes(), [&]<class V>() {
    return ForEachMatrix(context, b.count, LinearWork(b), [&](int64_t i) {
      kernels::TridiagonalProduct<V>(
          {superdiag.data<V>() + i * b.rows, maindiag.data<V>() + i * b.rows,
           subdiag.data<V>() + i * b.rows, b.rows},
          rhs.data<V>() + i * b.size(), b.cols, output.mutable_data<V>() + i * b.size());
      return kernels::Outcome::kOk;
    });
  });
}

void RegisterTridiagonal(Registrar& registrar) {
  registrar.AddAll<TridiagonalSolve, TridiagonalMatMul>();
}

}  // namespace penstock::ops
