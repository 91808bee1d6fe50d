#include "penstock/ops/gradient_terms.h"

#include <vector>

namespace penstock::ops {

Expr IntScalar(const Scope& scope, int64_t value, DType dtype) {
  return scope.Constant(dtype == DType::kInt64 ? Tensor::Scalar(value)
                                               : Tensor::Scalar(static_cast<int32_t>(value)));
}

Expr IntVector(const Scope& scope, std::initializer_list<int64_t> values, DType dtype) {
  const Shape shape{static_cast<int64_t>(values.size())};
  if (dtype == DType::kInt64) return scope.Constant(Tensor::FromValues<int64_t>(shape, values));
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return scope.Constant(Tensor::FromValues<int32_t>(shape, std::span<const int32_t>(narrow)));
}

Expr ShapeOf(const Expr& x, DType dtype) { return Op("Shape", x, {{"out_type", dtype}}); }

Expr ReshapeLike(const Expr& x, const Expr& like) { return Op("Reshape", x, ShapeOf(like)); }

Expr SumAll(const Expr& x) {
  if (!x.valid()) return x;
  const Scope& scope = x.scope();
  return Op("Sum", Op("Reshape", x, IntVector(scope, {-1})), IntScalar(scope, 0));
}

void SetLookedUpRows(Gradients& g, int table, const Expr& shape, const Expr& dense) {
  const Scope& scope = g.scope();
  const Expr flat = IntVector(scope, {-1});
  const Expr count = Op("Reshape", Op("Size", g.input(1)), IntVector(scope, {1}));
  const Expr rest = Op("Slice", shape, IntVector(scope, {1}), flat);
  const Expr rows = scope.Add("ConcatV2", {count, rest, IntScalar(scope, 0)});
  g.SetRows(table, Op("Reshape", g.dy(), rows), Op("Reshape", g.input(1), flat), dense);
}

Expr CastTo(const Expr& x, DType dtype) {
  return !x.valid() || x.dtype() == dtype ? x : Op("Cast", x, {{"DstT", dtype}});
}

}  // namespace penstock::ops
