#include "penstock/ops/sparse/sparse_matmul.h"

#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

#include "penstock/kernels/bucket_order.h"
#include "penstock/kernels/gemm.h"
#include "penstock/kernels/row_sums.h"
#include "penstock/kernels/transpose.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/sparse/sparse_tensor.h"

namespace penstock::ops {
namespace {

template <class T>
T Conjugate(const T& x) {
  if constexpr (requires { x.imag(); }) {
    return std::conj(x);
  } else {
    return x;
  }
}

// `b` transposed, and conjugated.
template <class T>
Result<Tensor> Adjoint(CpuContext& context, const Tensor& b) {
  const int64_t dims[] = {b.shape()[0], b.shape()[1]};
  const int permutation[] = {1, 0};
  TRY_ASSIGN(Tensor out, context.Allocate(b.dtype(), Shape{dims[1], dims[0]}));
  kernels::Transpose(b.raw(), dims, permutation, 2, sizeof(T), out.mutable_raw(),
                     context.parallel());
  if constexpr (requires(T x) { x.imag(); }) {
    for (T& x : out.mutable_values<T>()) x = std::conj(x);
  }
  return out;
}

// For each row of op(a) the rows of op(b) that go into it, with their factors.
template <class T>
Status Multiply(CpuContext& context, const IndexMatrix& indices, const Tensor& a_values,
                bool adjoint_a, const Tensor& b, Tensor& product) {
  using Number = typename kernels::RowSums<T>::Number;
  const int64_t n = indices.rows(), rows = product.shape()[0];
  const int row_at = adjoint_a ? 1 : 0;
  TRY_ASSIGN(Tensor scratch, context.Allocate(DType::kInt64, Shape{3, n}));
  TRY_ASSIGN(Tensor starts, context.Allocate(DType::kInt64, Shape{rows + 1}));
  TRY_ASSIGN(Tensor weights, context.Allocate(kDTypeOf<Number>, Shape{n}));
  int64_t* const to = scratch.mutable_data<int64_t>();
  int64_t* const order = to + n;
  int64_t* const from = order + n;
  for (int64_t i = 0; i < n; ++i) to[i] = indices[i][row_at];
  kernels::OrderByBucket(to, n, rows, starts.mutable_data<int64_t>(), order);
  for (int64_t k = 0; k < n; ++k) {
    from[k] = indices[order[k]][1 - row_at];
    const T value = a_values.data<T>()[order[k]];
    weights.mutable_data<Number>()[k] = static_cast<Number>(adjoint_a ? Conjugate(value) : value);
  }
  kernels::RowSums<T> sums;
  sums.table = b.data<T>();
  sums.columns = product.shape()[1];
  sums.starts = starts.data<int64_t>();
  sums.groups = rows;
  sums.rows = from;
  sums.weights = weights.data<Number>();
  kernels::SumRows(sums, product.mutable_data<T>(), context.parallel());
  return OkStatus();
}

Result<Tensor> ToFloat(CpuContext& context, const Tensor& x) {
  if (x.dtype() == DType::kFloat) return x;
  TRY_ASSIGN(Tensor wide, context.Allocate(DType::kFloat, x.shape()));
  const auto from = x.values<bfloat16>();
  std::transform(from.begin(), from.end(), wide.mutable_data<float>(),
                 [](bfloat16 v) { return static_cast<float>(v); });
  return wide;
}

Expr Column(const Expr& matrix, int64_t k) {
  const Scope& s = matrix.scope();
  return Op("GatherV2", matrix, IntScalar(s, k), IntScalar(s, 1));
}

Expr AdjointOf(const Expr& matrix) {
  return Op("Transpose", Conj(matrix), IntVector(matrix.scope(), {1, 0}));
}

}  // namespace

Result<Shape> SparseTensorDenseMatMul::InferShape(const Shape& a_indices, const Shape& a_values,
                                                  const Integers& a_shape, const Shape& b) const {
  TRY(CheckSparse(a_indices, a_values, a_shape.shape()));
  TRY(CheckRank(b, 2, "b"));
  const Shape two{2};
  if (a_shape.shape().has_rank() && !two.IsCompatibleWith(a_shape.shape()))
    return InvalidArgument("a_shape must have 2 elements, got shape {}", a_shape.shape());
  TRY_ASSIGN(const Shape a, a_shape.AsShape());
  const int64_t rows = a.has_rank() ? a[adjoint_a ? 1 : 0] : Shape::kUnknownDim;
  const int64_t inner = a.has_rank() ? a[adjoint_a ? 0 : 1] : Shape::kUnknownDim;
  if (!b.has_rank()) return Shape{rows, Shape::kUnknownDim};
  const int64_t b_rows = b[adjoint_b ? 1 : 0];
  if (inner >= 0 && b_rows >= 0 && inner != b_rows)
    return InvalidArgument("inner dimensions must agree: {} vs {}", inner, b_rows);
  const int64_t dims[] = {rows, b[adjoint_b ? 0 : 1]};
  return Shape::Make(dims);
}

Status SparseTensorDenseMatMul::ComputeCpu(CpuContext& context, const Tensor& a_indices,
                                           const Tensor& a_values, const Tensor& a_shape,
                                           const Tensor& b, Tensor& product) const {
  TRY_ASSIGN(const Tensor wide, WidenIndices(context, a_indices));
  const IndexMatrix indices(wide);
  TRY(CheckWithin(indices, a_shape.values<int64_t>(), "a_indices"));
  if (product.num_elements() == 0) return OkStatus();
  return ForDType(b.dtype(), PlainNumbers(), [&]<class T>() -> Status {
    if (!adjoint_b) return Multiply<T>(context, indices, a_values, adjoint_a, b, product);
    TRY_ASSIGN(const Tensor turned, Adjoint<T>(context, b));
    return Multiply<T>(context, indices, a_values, adjoint_a, turned, product);
  });
}

void SparseTensorDenseMatMul::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const Expr indices = g.input(0), values = g.input(1), shape = g.input(2), b = g.input(3);
  const Expr db = s.Add("SparseTensorDenseMatMul", {indices, values, shape, g.dy()},
                        {{"adjoint_a", !adjoint_a}, {"adjoint_b", false}});
  g.Set(3, adjoint_b ? AdjointOf(db) : db);
  // A value gets the product of the row of the result that it went to with the row of b that it
  // multiplied.
  const Expr rows = Column(indices, 0), cols = Column(indices, 1);
  const Expr axis = IntScalar(s, 0);
  Expr results = Op("GatherV2", g.dy(), adjoint_a ? cols : rows, axis);
  Expr factors = Op("GatherV2", adjoint_b ? AdjointOf(b) : b, adjoint_a ? rows : cols, axis);
  if (adjoint_a) std::swap(results, factors);
  g.Set(1, Op("Sum", results * Conj(factors), IntScalar(s, 1)));
}

Result<Shape> SparseMatMul::InferShape(const Shape& a, const Shape& b) const {
  TRY(CheckRank(a, 2, "a"));
  TRY(CheckRank(b, 2, "b"));
  const int64_t a_inner = a.has_rank() ? a[transpose_a ? 0 : 1] : Shape::kUnknownDim;
  const int64_t b_inner = b.has_rank() ? b[transpose_b ? 1 : 0] : Shape::kUnknownDim;
  if (a_inner >= 0 && b_inner >= 0 && a_inner != b_inner)
    return InvalidArgument("inner dimensions must agree: {} vs {}", a_inner, b_inner);
  const int64_t dims[] = {a.has_rank() ? a[transpose_a ? 1 : 0] : Shape::kUnknownDim,
                          b.has_rank() ? b[transpose_b ? 0 : 1] : Shape::kUnknownDim};
  return Shape::Make(dims);
}

Status SparseMatMul::ComputeCpu(CpuContext& context, const Tensor& a, const Tensor& b,
                                Tensor& product) const {
  TRY_ASSIGN(const Tensor left, ToFloat(context, a));
  TRY_ASSIGN(const Tensor right, ToFloat(context, b));
  const int64_t rows = product.shape()[0], cols = product.shape()[1];
  const int64_t inner = a.shape()[transpose_a ? 0 : 1];
  if (product.num_elements() == 0) return OkStatus();
  kernels::Gemm(transpose_a, transpose_b, rows, cols, inner, left.data<float>(), a.shape()[1],
                right.data<float>(), b.shape()[1], product.mutable_data<float>(), cols, 0.0,
                context.parallel());
  return OkStatus();
}

void SparseMatMul::Gradient(Gradients& g) const {
  const Expr a = g.input(0), b = g.input(1), dy = g.dy();
  const auto multiply = [&](const Expr& x, const Expr& y, bool turn_x, bool turn_y, DType dtype) {
    return CastTo(Op("SparseMatMul", x, y, {{"transpose_a", turn_x}, {"transpose_b", turn_y}}),
                  dtype);
  };
  g.Set(0, transpose_a ? multiply(b, dy, transpose_b, true, a.dtype())
                       : multiply(dy, b, false, !transpose_b, a.dtype()));
  g.Set(1, transpose_b ? multiply(dy, a, true, transpose_a, b.dtype())
                       : multiply(a, dy, !transpose_a, false, b.dtype()));
}

void RegisterSparseMatMul(Registrar& registrar) {
  registrar.AddAll<SparseTensorDenseMatMul, SparseMatMul>();
}

}  // namespace penstock::ops
