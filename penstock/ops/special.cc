#include "penstock/ops/special.h"

#include "penstock/ops/elementwise_blocks.h"

namespace penstock::ops {

Result<Shape> Betainc::InferShape(const Shape& a, const Shape& b, const Shape& x) const {
  Shape common;
  bool may_be_scalar = true;
  for (const Shape* shape : {&a, &b, &x}) {
    if (!shape->has_rank()) {
      if (may_be_scalar) common = Shape::Unknown();
    } else if (!shape->IsScalar()) {
      TRY_ASSIGN(common, may_be_scalar ? Result<Shape>(*shape) : MergeShapes(common, *shape));
      may_be_scalar = false;
    }
  }
  return common;
}

void Betainc::Gradient(Gradients& g) const {
  const Expr a = g.input(0), b = g.input(1), x = g.input(2);
  const Expr log_beta = Op("Lgamma", a) + Op("Lgamma", b) - Op("Lgamma", a + b);
  const Expr density = Op("Exp", (b - 1.0) * Op("Log1p", -x) + (a - 1.0) * Op("Log", x) - log_beta);
  const Expr partial = density * g.dy();
  const Expr shape = Op("Shape", x);
  const Expr axes = g.scope().Add("BroadcastGradientArgs", {shape, Op("Shape", partial)}, {});
  g.Set(2, Op("Reshape", Op("Sum", partial, axes), shape));
}

void RegisterSpecial(Registrar& registrar, ElementwiseTable& table) {
  AddPlainBlocks(table, SpecialOps());
  AddElementwise(registrar, SpecialOps(), table);
}

}  // namespace penstock::ops
