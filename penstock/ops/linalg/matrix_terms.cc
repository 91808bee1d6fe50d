#include "penstock/ops/linalg/matrix_terms.h"

#include <numeric>
#include <vector>

#include "penstock/ops/gradient_terms.h"

namespace penstock::ops {

Expr MatrixProduct(const Expr& a, const Expr& b, bool adjoint_a, bool adjoint_b) {
  return Op("BatchMatMulV2", a, b, {{"adj_x", adjoint_a}, {"adj_y", adjoint_b}});
}

namespace {

// The permutation that exchanges the last two axes.
Expr LastAxesExchanged(const Expr& x) {
  const Scope& s = x.scope();
  if (x.shape().has_rank()) {
    std::vector<int32_t> axes(static_cast<size_t>(x.shape().rank()));
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    const Shape shape{static_cast<int64_t>(axes.size())};
    return s.Constant(Tensor::FromValues<int32_t>(shape, std::span<const int32_t>(axes)));
  }
  const Expr rank = Op("Rank", x);
  const Expr last = s.Add("Pack", {rank - 1, rank - 2}, {{"N", 2}});
  const Expr first = s.Add("Range", {IntScalar(s, 0), rank - 2, IntScalar(s, 1)});
  return s.Add("ConcatV2", {first, last, IntScalar(s, 0)}, {{"N", 2}});
}

}  // namespace

Expr Transposed(const Expr& x) { return x.valid() ? Op("Transpose", x, LastAxesExchanged(x)) : x; }
Expr Adjoint(const Expr& x) {
  return x.valid() ? Op("ConjugateTranspose", x, LastAxesExchanged(x)) : x;
}

Expr LowerTriangle(const Expr& x) {
  return Op("MatrixBandPart", x, IntScalar(x.scope(), -1), IntScalar(x.scope(), 0));
}
Expr UpperTriangle(const Expr& x) {
  return Op("MatrixBandPart", x, IntScalar(x.scope(), 0), IntScalar(x.scope(), -1));
}
Expr DiagonalOf(const Expr& x) { return Op("MatrixDiagPart", x); }
Expr DiagonalMatrix(const Expr& diagonal) { return Op("MatrixDiag", diagonal); }
Expr WithDiagonal(const Expr& x, const Expr& diagonal) { return Op("MatrixSetDiag", x, diagonal); }

Expr TriangularSolve(const Expr& a, const Expr& b, bool lower, bool adjoint) {
  return Op("MatrixTriangularSolve", a, b, {{"lower", lower}, {"adjoint", adjoint}});
}

Expr AsMatrices(const Expr& x) {
  const Scope& s = x.scope();
  return Op("ExpandDims", Op("ExpandDims", x, IntScalar(s, -1)), IntScalar(s, -1));
}

Expr SafeReciprocal(const Expr& x) { return x * Op("Reciprocal", x * x + 1e-20); }

Expr SumBroadcastBatch(const Expr& gradient, const Expr& input, const Expr& other) {
  const Shape &a = input.shape(), &b = other.shape();
  if (a.IsFullyKnown() && b.IsFullyKnown() && a.rank() == b.rank() &&
      a.Slice(0, a.rank() - 2) == b.Slice(0, b.rank() - 2)) {
    return gradient;
  }
  const Scope& s = input.scope();
  auto batch = [&](const Expr& x) {
    return s.Add("StridedSlice",
                 {ShapeOf(x), IntVector(s, {0}), IntVector(s, {-2}), IntVector(s, {1})},
                 {{"begin_mask", 1}});
  };
  const Expr axes = Op("BroadcastGradientArgs", batch(input), batch(other));
  return ReshapeLike(Op("Sum", gradient, axes), input);
}

}  // namespace penstock::ops
