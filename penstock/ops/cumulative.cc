#include "penstock/ops/cumulative.h"

#include <limits>

#include "penstock/kernels/scan.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/index_rows.h"

namespace penstock::ops {
namespace {

Status Scan(kernels::ScanKind kind, bool exclusive, bool reverse, CpuContext& context,
            const Tensor& x, const Integers& wanted, Tensor& out) {
  const Shape& shape = x.shape();
  TRY_ASSIGN(const int axis, ResolveAxis(wanted[0], shape.rank()));
  const int64_t outer = ProductOf(shape, 0, axis);
  const int64_t inner = ProductOf(shape, axis + 1, shape.rank());
  return ForDType(x.dtype(), PlainNumbers(), [&]<class T>() {
    kernels::Scan<T>(kind, exclusive, reverse, x.data<T>(), outer, shape.dim(axis), inner,
                     out.mutable_data<T>(), context.parallel());
    return OkStatus();
  });
}

}  // namespace

Result<Shape> CumulativeShape(const Shape& x, const Integers& axis) {
  const auto count = axis.shape().CheckedNumElements();
  if (count && *count != 1) {
    return InvalidArgument("axis must be a scalar, got shape {}", axis.shape());
  }
  if (x.has_rank() && axis.known()) TRY(ResolveAxis(axis[0], x.rank()));
  return x;
}

Status Cumsum::ComputeCpu(CpuContext& context, const Tensor& x, const Integers& axis,
                          Tensor& out) const {
  return Scan(kernels::ScanKind::kSum, exclusive, reverse, context, x, axis, out);
}

Status Cumprod::ComputeCpu(CpuContext& context, const Tensor& x, const Integers& axis,
                           Tensor& out) const {
  return Scan(kernels::ScanKind::kProd, exclusive, reverse, context, x, axis, out);
}

Status CumulativeLogsumexp::ComputeCpu(CpuContext& context, const Tensor& x, const Integers& axis,
                                       Tensor& out) const {
  return Scan(kernels::ScanKind::kLogSumExp, exclusive, reverse, context, x, axis, out);
}

void Cumsum::Gradient(Gradients& g) const {
  g.Set(0, Op("Cumsum", g.dy(), g.input(1), {{"exclusive", exclusive}, {"reverse", !reverse}}));
}

void Cumprod::Gradient(Gradients& g) const {
  const Expr sum = Op("Cumsum", g.output(0) * g.dy(), g.input(1),
                      {{"exclusive", exclusive}, {"reverse", !reverse}});
  g.Set(0, sum / g.input(0));
}

// dx_i = exp(x_i) * sum of dy_j * exp(-y_j), of which the positive and the negative terms are
// summed apart, as logarithms.
void CumulativeLogsumexp::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const Expr x = g.input(0), y = g.output(0), dy = g.dy();
  const Expr zero = s.Like(dy, 0);
  const Expr none = s.Like(dy, -std::numeric_limits<double>::infinity());
  const auto part = [&](const Expr& terms) {
    const Expr is_there = Op("Greater", terms, zero);
    const Expr logs = Op("Log", Op("SelectV2", is_there, terms, s.Like(dy, 1)));
    // A y of -inf comes from no term at all.
    const Expr finite = Op("SelectV2", Op("IsInf", y), zero, y);
    const Expr scan = Op("CumulativeLogsumexp", Op("SelectV2", is_there, logs - finite, none),
                         g.input(1), {{"exclusive", exclusive}, {"reverse", !reverse}});
    return Op("Exp", scan + x);
  };
  g.Set(0, part(dy) - part(-dy));
}

void RegisterCumulative(Registrar& registrar) {
  registrar.AddAll<Cumsum, Cumprod, CumulativeLogsumexp>();
}

}  // namespace penstock::ops
