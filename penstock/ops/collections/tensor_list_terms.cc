#include "penstock/ops/collections/tensor_list_terms.h"

namespace penstock::ops {

Expr IntegerVector(const Scope& scope, int32_t value) {
  return scope.Constant(Tensor::FromValues<int32_t>({1}, {value}));
}

Expr RowShape(const Expr& x) {
  return Op("Slice", Op("Shape", x), IntegerVector(x.scope(), 1), IntegerVector(x.scope(), -1));
}

Expr ElementShapeOf(const Expr& list) {
  return Op("TensorListElementShape", list, {{"shape_type", DType::kInt32}});
}

AttrMap ElementType(DType dtype) { return {{"element_dtype", dtype}}; }

}  // namespace penstock::ops
