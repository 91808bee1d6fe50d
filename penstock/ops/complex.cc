#include "penstock/ops/complex.h"

#include "penstock/ops/elementwise_blocks.h"

namespace penstock::ops {

Expr MakeComplex(const Expr& real, const Expr& imag, DType dtype) {
  return Op("Complex", real, imag, {{"Tout", dtype}});
}

Expr Angle::Gradient(Expr x, Expr, Expr dy) {
  if (!dy.valid()) return {};
  const AttrMap part = {{"Tout", dy.dtype()}};
  const Expr turned = MakeComplex(Op("Imag", x, part), Op("Real", x, part), x.dtype());
  return -MakeComplex(dy, dy.scope().Like(dy, 0), x.dtype()) * Op("Reciprocal", turned);
}

Expr ComplexAbs::Gradient(Expr x, Expr y, Expr dy) {
  if (!dy.valid()) return {};
  const Expr zero = dy.scope().Like(dy, 0);
  return Op("DivNoNan", MakeComplex(dy, zero, x.dtype()) * x, MakeComplex(y, zero, x.dtype()));
}

void RegisterComplex(Registrar& registrar, ElementwiseTable& table) {
  AddPlainBlocks(table, ComplexOps());
  AddElementwise(registrar, ComplexOps(), table);
}

}  // namespace penstock::ops
