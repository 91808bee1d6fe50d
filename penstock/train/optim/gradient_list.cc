#include "penstock/train/optim/gradient_list.h"

#include "penstock/client/build_scope.h"
#include "penstock/client/error.h"
#include "penstock/train/optim/numbers.h"

namespace penstock {
namespace optim_internal {
namespace {

// What a gradient is made of: its rows, or all of it.
Expr Elements(const Scope& scope, const GradientValue& gradient) {
  return Expr(&scope, gradient.has_rows() ? gradient.values : gradient.dense);
}

// The sum of all squares, halved: as a float, so that 16-bit gradients do not overflow in it.
Expr HalfSquares(const Scope& scope, const GradientValue& gradient) {
  Expr elements = Elements(scope, gradient);
  if (elements.dtype() != DType::kDouble) elements = CastTo(elements, DType::kFloat);
  return Op("L2Loss", elements);
}

GradientValue ClipByElement(const Scope& scope, const ParameterGradient& item, double limit) {
  const auto clipped = [&](OutputRef ref) {
    const Expr x(&scope, ref);
    return Op("ClipByValue", x, scope.Like(x, -limit), scope.Like(x, limit));
  };
  GradientValue gradient = item.gradient;
  if (!gradient.has_rows()) {
    gradient.dense = clipped(gradient.dense).ref();
    return gradient;
  }
  // Whole, it is the sum of the clipped rows.
  const Expr values = clipped(gradient.values);
  const Expr num_rows = scope.Add("GatherV2", {Op("Shape", Expr(&scope, gradient.dense)),
                                               scope.Constant(Tensor::Scalar<int32_t>(0)),
                                               scope.Constant(Tensor::Scalar<int32_t>(0))});
  gradient.values = values.ref();
  gradient.dense = Op("UnsortedSegmentSum", values, Expr(&scope, gradient.indices), num_rows).ref();
  return gradient;
}

// limit / max(norm, limit).
GradientValue ClipByOwnNorm(const Scope& scope, const GradientValue& gradient, double limit) {
  const Expr norm = Op("Sqrt", HalfSquares(scope, gradient) * 2.0);
  const Expr scale = scope.Like(norm, limit) / Op("Maximum", norm, scope.Like(norm, limit));
  return Scaled(scope, gradient, scale);
}

Expr NormOf(const Scope& scope, const GradientList& gradients) {
  std::vector<Expr> squares;
  for (const ParameterGradient& item : gradients.items)
    squares.push_back(CastTo(HalfSquares(scope, item.gradient), DType::kFloat));
  const Expr sum = squares.size() == 1
                       ? squares[0]
                       : scope.Add("AddN", squares, {{"N", static_cast<int64_t>(squares.size())}});
  return Op("Sqrt", sum * 2.0);
}

// limit * min(1 / norm, 1 / limit), or NaN.
Expr GlobalScale(const Expr& norm, double limit) {
  const Scope& scope = norm.scope();
  const Expr scale = limit * Op("Minimum", 1.0 / norm, scope.Like(norm, 1 / limit));
  return scale + (norm - norm);
}

}  // namespace

Expr CastTo(const Expr& value, DType dtype) {
  return value.valid() && value.dtype() != dtype ? Op("Cast", value, {{"DstT", dtype}}) : value;
}

GradientValue Scaled(const Scope& scope, const GradientValue& gradient, const Expr& by) {
  const auto scaled = [&](OutputRef ref) {
    const Expr x(&scope, ref);
    return (x * CastTo(by, x.dtype())).ref();
  };
  GradientValue result = gradient;
  result.dense = scaled(gradient.dense);
  if (gradient.has_rows()) result.values = scaled(gradient.values);
  return result;
}

std::vector<NodeId> NodesOf(const GradientValue& gradient) {
  if (!gradient.has_rows()) return {gradient.dense.node};
  return {gradient.values.node, gradient.indices.node};
}

void CheckList(const GradientList& gradients, CallSite site) {
  if (gradients.graph == nullptr || gradients.items.empty())
    throw Error(InvalidArgument("the list of gradients is empty"), site);
  for (const ParameterGradient& item : gradients.items) {
    if (!item.gradient.connected())
      throw Error(InvalidArgument("variable {} has no gradient", item.parameter.name), site);
  }
}

}  // namespace optim_internal

GradientList ClipGradients(const GradientList& gradients, const Clip& clip, CallSite site) {
  using namespace optim_internal;
  if (clip.kind == Clip::Kind::kNone) return gradients;
  CheckList(gradients, site);
  OrThrow(Positive("the limit of clipping", clip.limit), site);
  const Scope scope = BuildScope::Current(*gradients.graph, site).Sub("clip");
  GradientList clipped = gradients;
  Expr scale;
  if (clip.kind == Clip::Kind::kGlobalNorm)
    scale = GlobalScale(NormOf(scope, gradients), clip.limit);
  for (ParameterGradient& item : clipped.items) {
    GradientValue& gradient = item.gradient;
    if (clip.kind == Clip::Kind::kValue) {
      gradient = ClipByElement(scope, item, clip.limit);
    } else if (clip.kind == Clip::Kind::kNorm) {
      gradient = ClipByOwnNorm(scope, gradient, clip.limit);
    } else {
      gradient = Scaled(scope, gradient, scale);
    }
  }
  OrThrow(scope.status(), site);
  return clipped;
}

Output<float> GlobalNorm(const GradientList& gradients, CallSite site) {
  optim_internal::CheckList(gradients, site);
  const Scope scope = BuildScope::Current(*gradients.graph, site).Sub("global_norm");
  const Expr norm = optim_internal::NormOf(scope, gradients);
  OrThrow(scope.status(), site);
  return Output<float>(*gradients.graph, norm.ref());
}

Output<bool> AllFinite(const GradientList& gradients, CallSite site) {
  using namespace optim_internal;
  CheckList(gradients, site);
  const Scope scope = BuildScope::Current(*gradients.graph, site).Sub("all_finite");
  const Expr flat = scope.Constant(Tensor::FromValues<int32_t>({1}, {-1}));
  Expr all;
  for (const ParameterGradient& item : gradients.items) {
    const Expr finite = Op("Reshape", Op("IsFinite", Elements(scope, item.gradient)), flat);
    const Expr own = Op("All", finite, scope.Constant(Tensor::Scalar<int32_t>(0)));
    all = all.valid() ? Op("LogicalAnd", all, own) : own;
  }
  OrThrow(scope.status(), site);
  return Output<bool>(*gradients.graph, all.ref());
}

}  // namespace penstock
