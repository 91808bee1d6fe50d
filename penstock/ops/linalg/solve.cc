#include "penstock/ops/linalg/solve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "penstock/kernels/broadcast.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/linalg/matrix_terms.h"

namespace penstock::ops {
namespace {

constexpr std::string_view kNotInvertible = "Input matrix is not invertible.";

// matrix x = rhs with square matrices, batches alike or broadcast.
Result<Shape> InferSolve(const Shape& matrix, const Shape& rhs, bool broadcast) {
  TRY_ASSIGN(const Shape square, CheckSquare(matrix, "matrix"));
  TRY(CheckRankAtLeast(rhs, 2, "rhs"));
  if (!square.has_rank() || !rhs.has_rank()) return Shape::Unknown();
  TRY_ASSIGN(const int64_t rows,
             AgreedExtent(ColsOf(square), RowsOf(rhs), "Input matrix and rhs are incompatible"));
  TRY_ASSIGN(const Shape batch, broadcast ? BroadcastShapes(BatchOf(square), BatchOf(rhs))
                                          : MergeShapes(BatchOf(square), BatchOf(rhs)));
  return MatricesOf(batch, rows, ColsOf(rhs));
}

// Where in `operand` each matrix of the output's batch begins, counted in matrices.
std::vector<int64_t> BroadcastPlaces(const Shape& operand, const Shape& output) {
  const Shape from = BatchOf(operand), to = BatchOf(output);
  int64_t strides[Shape::kMaxRank];
  kernels::BroadcastStrides(from.dims(), to.dims(), strides);
  std::vector<int64_t> places(static_cast<size_t>(to.num_elements()));
  for (size_t i = 0; i < places.size(); ++i) {
    int64_t left = static_cast<int64_t>(i), at = 0;
    for (int axis = to.rank() - 1; axis >= 0; --axis) {
      at += left % to[axis] * strides[axis];
      left /= to[axis];
    }
    places[i] = at;
  }
  return places;
}

// (a^H a + l2 I) or, of wide matrices, (a a^H + l2 I), as its Cholesky factor.
Expr GramianFactor(const Expr& a, const Expr& l2, bool tall) {
  const Expr gramian = MatrixProduct(a, a, tall, !tall);
  return Op("Cholesky", WithDiagonal(gramian, DiagonalOf(gramian) + l2));
}

Expr CholeskySolve(const Expr& factor, const Expr& b) {
  return TriangularSolve(factor, TriangularSolve(factor, b, true), true, true);
}

}  // namespace

// ---- inverse ----

template <FixedString Name, class T>
void MatrixInverseOp<Name, T>::Gradient(Gradients& g) const {
  const Expr y = g.output(0), dy = g.dy();
  g.Set(0, adjoint ? -MatrixProduct(y, MatrixProduct(dy, y, true))
                   : -MatrixProduct(y, MatrixProduct(dy, y, false, true), true));
}

template <FixedString Name, class T>
Status MatrixInverseOp<Name, T>::ComputeCpu(CpuContext& context, const Tensor& input,
                                            Tensor& output) const {
  const MatrixExtents m(input.shape());
  if (m.empty()) return OkStatus();
  if (input.dtype() == DType::kHalf) {
    TRY_ASSIGN(const Tensor wide, CopyAs(context, input, DType::kFloat));
    TRY_ASSIGN(Tensor result, context.Allocate(DType::kFloat, output.shape()));
    TRY(ComputeCpu(context, wide, result));
    ConvertInto(context, result, output);
    return OkStatus();
  }
  return ForDType(input.dtype(), DecomposedTypes(), [&]<class V>() {
    return ForEachMatrix(context, m.count, CubicWork(m, 2, 2, input.dtype()), [&](int64_t i) {
      return kernels::Inverse(input.data<V>() + i * m.size(), m.rows, adjoint,
                              output.mutable_data<V>() + i * m.size());
    });
  });
}

// ---- equations ----

template <FixedString Name, class T>
Result<Shape> MatrixSolveOp<Name, T>::InferShape(const Shape& matrix, const Shape& rhs) const {
  return InferSolve(matrix, rhs, false);
}

template <FixedString Name, class T>
void MatrixSolveOp<Name, T>::Gradient(Gradients& g) const {
  const Expr x = g.output(0);
  const Expr db = Op("MatrixSolve", g.input(0), g.dy(), {{"adjoint", !adjoint}});
  g.Set(0, adjoint ? -MatrixProduct(x, db, false, true) : -MatrixProduct(db, x, false, true));
  g.Set(1, db);
}

template <FixedString Name, class T>
Status MatrixSolveOp<Name, T>::ComputeCpu(CpuContext& context, const Tensor& matrix,
                                          const Tensor& rhs, Tensor& output) const {
  const MatrixExtents m(matrix.shape()), b(rhs.shape());
  if (m.empty() || b.empty()) return OkStatus();
  MatrixWork work = CubicWork(m, 1, 2, matrix.dtype());
  work.if_singular = kNotInvertible;
  return ForDType(matrix.dtype(), DecomposedTypes(), [&]<class V>() {
    return ForEachMatrix(context, m.count, work, [&](int64_t i) {
      return kernels::Solve(matrix.data<V>() + i * m.size(), rhs.data<V>() + i * b.size(), m.rows,
                            b.cols, adjoint, output.mutable_data<V>() + i * b.size());
    });
  });
}

template <FixedString Name, class T>
Result<Shape> MatrixTriangularSolveOp<Name, T>::InferShape(const Shape& matrix,
                                                           const Shape& rhs) const {
  return InferSolve(matrix, rhs, true);
}

template <FixedString Name, class T>
void MatrixTriangularSolveOp<Name, T>::Gradient(Gradients& g) const {
  const Expr a = g.input(0), b = g.input(1), x = g.output(0);
  const Expr db = TriangularSolve(a, g.dy(), lower, !adjoint);
  const Expr da = adjoint ? -MatrixProduct(x, db, false, true) : -MatrixProduct(db, x, false, true);
  g.Set(0, SumBroadcastBatch(lower ? LowerTriangle(da) : UpperTriangle(da), a, b));
  g.Set(1, SumBroadcastBatch(db, b, a));
}

template <FixedString Name, class T>
Status MatrixTriangularSolveOp<Name, T>::ComputeCpu(CpuContext& context, const Tensor& matrix,
                                                    const Tensor& rhs, Tensor& output) const {
  const MatrixExtents m(matrix.shape()), b(rhs.shape()), x(output.shape());
  if (x.empty()) return OkStatus();
  const std::vector<int64_t> a_at = BroadcastPlaces(matrix.shape(), output.shape());
  const std::vector<int64_t> b_at = BroadcastPlaces(rhs.shape(), output.shape());
  return ForDType(matrix.dtype(), DecomposedTypes(), [&]<class V>() {
    return ForEachMatrix(context, x.count, CubicWork(x, 1, 1, matrix.dtype()), [&](int64_t i) {
      return kernels::TriangularSolve(matrix.data<V>() + a_at[i] * m.size(),
                                      rhs.data<V>() + b_at[i] * b.size(), m.rows, b.cols, lower,
                                      adjoint, output.mutable_data<V>() + i * x.size());
    });
  });
}

template <FixedString Name, class T>
Result<Shape> MatrixSolveLsOp<Name, T>::InferShape(const Shape& matrix, const Shape& rhs,
                                                   const Shape& l2) const {
  TRY(CheckRankAtLeast(matrix, 2, "matrix"));
  TRY(CheckRankAtLeast(rhs, 2, "rhs"));
  TRY(CheckScalar(l2, "l2_regularizer"));
  if (!matrix.has_rank() || !rhs.has_rank()) return Shape::Unknown();
  TRY(AgreedExtent(RowsOf(matrix), RowsOf(rhs), "Input matrix and rhs are incompatible").status());
  TRY_ASSIGN(const Shape batch, MergeShapes(BatchOf(matrix), BatchOf(rhs)));
  return MatricesOf(batch, ColsOf(matrix), ColsOf(rhs));
}

template <FixedString Name, class T>
void MatrixSolveLsOp<Name, T>::Gradient(Gradients& g) const {
  const Expr a = g.input(0), b = g.input(1), x = g.output(0), dx = g.dy();
  if (!fast) {
    return g.scope().Fail(Unimplemented("{} has a gradient only with fast = true", kName));
  }
  const Expr l2 = CastTo(g.input(2), a.dtype());
  const Shape& shape = a.shape();
  // Matrices of unknown extents are taken to be tall, as least squares mostly are.
  const bool tall = !shape.has_rank() || RowsOf(shape) < 0 || RowsOf(shape) >= ColsOf(shape);
  const Expr factor = GramianFactor(a, l2, tall);
  if (tall) {
    const Expr z = CholeskySolve(factor, dx);
    const Expr xz = MatrixProduct(x, z, false, true);
    // Transposed, not adjoint: of complex numbers this is TensorFlow's derivative.
    g.Set(0, MatrixProduct(b, z, false, true) - MatrixProduct(a, xz + Transposed(xz)));
    g.Set(1, MatrixProduct(a, z));
  } else {
    const Expr db = CholeskySolve(factor, MatrixProduct(a, dx));
    const Expr w = CholeskySolve(factor, b);
    const Expr left = MatrixProduct(db, MatrixProduct(w, a, true));
    const Expr right = MatrixProduct(w, dx - MatrixProduct(a, db, true), false, true);
    g.Set(0, right - left);
    g.Set(1, db);
  }
}

template <FixedString Name, class T>
Status MatrixSolveLsOp<Name, T>::ComputeCpu(CpuContext& context, const Tensor& matrix,
                                            const Tensor& rhs, double l2, Tensor& output) const {
  if (!(l2 >= 0)) return InvalidArgument("l2_regularizer must be >= 0, got {}", l2);
  const MatrixExtents m(matrix.shape()), b(rhs.shape()), x(output.shape());
  if (x.empty()) return OkStatus();
  MatrixWork work = CubicWork(m, 2, fast ? 2 : 3, matrix.dtype());
  work.if_singular =
      "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a "
      "larger l2_regularizer > 0.";
  return ForDType(matrix.dtype(), DecomposedTypes(), [&]<class V>() {
    if (m.rows == 0) {  // nothing is asked of x: the shortest is 0
      std::fill_n(output.mutable_data<V>(), output.num_elements(), V(0));
      return OkStatus();
    }
    return ForEachMatrix(context, m.count, work, [&](int64_t i) {
      return kernels::LeastSquares(matrix.data<V>() + i * m.size(), rhs.data<V>() + i * b.size(),
                                   m.rows, m.cols, b.cols, l2, fast,
                                   output.mutable_data<V>() + i * x.size());
    });
  });
}

// ---- determinants ----

namespace {

Result<Shape> InferDeterminant(const Shape& input) {
  TRY_ASSIGN(const Shape square, CheckSquare(input, "input"));
  return square.has_rank() ? BatchOf(square) : square;
}

// Calls store(i, sign, log_abs) for each matrix; of an empty one the determinant is 1.
template <class V, class Store>
Status EachDeterminant(CpuContext& context, const Tensor& input, Store store) {
  const MatrixExtents m(input.shape());
  if (m.rows == 0) {
    for (int64_t i = 0; i < m.count; ++i) store(i, V(1), V(0));
    return OkStatus();
  }
  return ForEachMatrix(context, m.count, CubicWork(m, 1, 2, input.dtype()), [&](int64_t i) {
    V sign, log_abs;
    const kernels::Outcome outcome =
        kernels::LogDeterminant(input.data<V>() + i * m.size(), m.rows, &sign, &log_abs);
    if (outcome == kernels::Outcome::kOk) store(i, sign, log_abs);
    return outcome;
  });
}

}  // namespace

template <FixedString Name, class T>
Result<Shape> MatrixDeterminantOp<Name, T>::InferShape(const Shape& input) const {
  return InferDeterminant(input);
}

template <FixedString Name, class T>
void MatrixDeterminantOp<Name, T>::Gradient(Gradients& g) const {
  const Expr inverse = Op("MatrixInverse", g.input(0), {{"adjoint", true}});
  g.Set(0, AsMatrices(g.dy() * g.output(0)) * inverse);
}

template <FixedString Name, class T>
Status MatrixDeterminantOp<Name, T>::ComputeCpu(CpuContext& context, const Tensor& input,
                                                Tensor& output) const {
  return ForDType(input.dtype(), DecomposedTypes(), [&]<class V>() {
    return EachDeterminant<V>(context, input, [&](int64_t i, V sign, V log_abs) {
      output.mutable_data<V>()[i] = sign * V(std::exp(std::real(log_abs)));
    });
  });
}

Result<Shape> LogMatrixDeterminant::InferShape(const Shape& input) const {
  return InferDeterminant(input);
}

void LogMatrixDeterminant::Gradient(Gradients& g) const {
  const Expr inverse = Op("MatrixInverse", g.input(0), {{"adjoint", true}});
  g.Set(0, AsMatrices(g.dy(1)) * inverse);
}

Status LogMatrixDeterminant::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& sign,
                                        Tensor& log_abs_determinant) const {
  return ForDType(input.dtype(), DecomposedTypes(), [&]<class V>() {
    return EachDeterminant<V>(context, input, [&](int64_t i, V s, V log_abs) {
      sign.mutable_data<V>()[i] = s;
      log_abs_determinant.mutable_data<V>()[i] = log_abs;
    });
  });
}

// ---- triangular factors ----

Result<std::array<Shape, 2>> Lu::InferShape(const Shape& input) const {
  TRY_ASSIGN(const Shape square, CheckSquare(input, "input"));
  const Shape rows = square.has_rank() ? square.Slice(0, square.rank() - 1) : square;
  return std::array<Shape, 2>{square, rows};
}

// With row i of l u being row p[i] of the input: d(lu) for both triangles at once, then its rows
// back to their places.
void Lu::Gradient(Gradients& g) const {
  const Expr lu = g.output(0), dlu = g.dy(0);
  const Scope& s = g.scope();
  const Expr zeros = Op("ZerosLike", DiagonalOf(lu));
  const Expr ones = Op("OnesLike", DiagonalOf(lu));
  const Expr l = WithDiagonal(LowerTriangle(lu), ones), u = UpperTriangle(lu);
  const Expr dl = WithDiagonal(LowerTriangle(dlu), zeros), du = UpperTriangle(dlu);
  const Expr l_part = WithDiagonal(LowerTriangle(MatrixProduct(l, dl, true)), zeros);
  const Expr u_part = UpperTriangle(MatrixProduct(du, u, false, true));
  const Expr left = TriangularSolve(l, l_part + u_part, true, true);
  const Expr ordered = Adjoint(TriangularSolve(u, Adjoint(left), false));
  const Expr n =
      s.Add("StridedSlice", {ShapeOf(lu), IntVector(s, {-1}), IntVector(s, {0}), IntVector(s, {1})},
            {{"end_mask", 1}, {"shrink_axis_mask", 1}});
  const Expr permutation =
      s.Add("OneHot", {g.output(1), n, s.Like(lu, 1), s.Like(lu, 0)}, {{"axis", -1}});
  g.Set(0, MatrixProduct(permutation, ordered, true));
}

Status Lu::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& lu, Tensor& p) const {
  const MatrixExtents m(input.shape());
  if (m.empty()) return OkStatus();
  if (p.dtype() == DType::kInt32 && m.rows > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("row numbers must fit int32, got {} rows", m.rows);
  }
  return ForDType(input.dtype(), DecomposedTypes(), [&]<class V>() {
    return ForEachMatrix(context, m.count, CubicWork(m, 1, 2, input.dtype()), [&](int64_t i) {
      std::vector<int64_t> rows(static_cast<size_t>(m.rows));
      const kernels::Outcome outcome = kernels::Lu(
          input.data<V>() + i * m.size(), m.rows, lu.mutable_data<V>() + i * m.size(), rows.data());
      if (p.dtype() == DType::kInt32) {
        std::copy(rows.begin(), rows.end(), p.mutable_data<int32_t>() + i * m.rows);
      } else {
        std::copy(rows.begin(), rows.end(), p.mutable_data<int64_t>() + i * m.rows);
      }
      return outcome;
    });
  });
}

template <FixedString Name, class T>
void CholeskyOp<Name, T>::Gradient(Gradients& g) const {
  const Expr l = g.output(0);
  const Expr product = MatrixProduct(l, g.dy(), true);
  const Expr middle = LowerTriangle(WithDiagonal(product, DiagonalOf(product) * 0.5));
  const Expr left = TriangularSolve(l, middle, true, true);
  const Expr da = TriangularSolve(l, Adjoint(left), true, true);
  g.Set(0, (da + Adjoint(da)) * 0.5);
}

// TensorFlow answers NaN for a matrix that is not positive definite.
template <FixedString Name, class T>
Status CholeskyOp<Name, T>::ComputeCpu(CpuContext& context, const Tensor& input,
                                       Tensor& output) const {
  const MatrixExtents m(input.shape());
  if (m.empty()) return OkStatus();
  return ForDType(input.dtype(), DecomposedTypes(), [&]<class V>() {
    return ForEachMatrix(context, m.count, CubicWork(m, 0.5, 2, input.dtype()), [&](int64_t i) {
      V* l = output.mutable_data<V>() + i * m.size();
      const kernels::Outcome outcome = kernels::Cholesky(input.data<V>() + i * m.size(), m.rows, l);
      if (outcome != kernels::Outcome::kFailed) return outcome;
      const V nan(std::numeric_limits<double>::quiet_NaN());
      std::fill_n(l, m.size(), V(0));
      for (int64_t r = 0; r < m.rows; ++r) std::fill_n(l + r * m.cols, r + 1, nan);
      return kernels::Outcome::kOk;
    });
  });
}

template <FixedString Name, class T>
Result<Shape> CholeskyGradOp<Name, T>::InferShape(const Shape& l, const Shape& grad) const {
  TRY_ASSIGN(const Shape factor, CheckSquare(l, "l"));
  TRY_ASSIGN(const Shape gradient, CheckSquare(grad, "grad"));
  return MergeShapes(factor, gradient);
}

template <FixedString Name, class T>
Status CholeskyGradOp<Name, T>::ComputeCpu(CpuContext& context, const Tensor& l, const Tensor& grad,
                                           Tensor& output) const {
  const MatrixExtents m(l.shape());
  if (m.empty()) return OkStatus();
  return ForDType(l.dtype(), Types<float, double>(), [&]<class V>() {
    return ForEachMatrix(context, m.count, CubicWork(m, 2, 3, l.dtype()), [&](int64_t i) {
      return kernels::CholeskyGradient(l.data<V>() + i * m.size(), grad.data<V>() + i * m.size(),
                                       m.rows, output.mutable_data<V>() + i * m.size());
    });
  });
}

void RegisterMatrixSolve(Registrar& registrar) {
  registrar.AddAll<MatrixInverse, MatrixSolve, MatrixTriangularSolve, MatrixSolveLs,
                   MatrixDeterminant, LogMatrixDeterminant, Lu, Cholesky, CholeskyGrad>();
  registrar.AddAll<BatchMatrixInverse, BatchMatrixSolve, BatchMatrixTriangularSolve,
                   BatchMatrixSolveLs, BatchMatrixDeterminant, BatchCholesky, BatchCholeskyGrad>();
}

}  // namespace penstock::ops
