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

Expr AllAxes(const Expr& of) {
  const Expr rank = Op("Rank", of);
  const Scope& scope = of.scope();
  return scope.Add("Range", {scope.Constant(Tensor::Scalar<int32_t>(0)), rank,
                             scope.Constant(Tensor::Scalar<int32_t>(1))});
}

// The sum of all squares, halved: as a float, so that 16-bit gradients do not overflow in it.
Expr HalfSquares(const Scope& scope, const GradientValue& gradient) {
  Expr elements = Elements(scope, gradient);
  if (elements.dtype() != DType::kDouble) elements = CastTo(elements, DType::kFloat);
  return Op("L2Loss", elements);
}

GradientValue WithElements(const GradientValue& gradient, OutputRef dense, OutputRef values) {
  GradientValue changed = gradient;
  changed.dense = dense;
  if (gradient.has_rows()) changed.values = values;
  return changed;
}

// The same function of each element, in both forms.
template <class F>
GradientValue ForEachElement(const Scope& scope, const GradientValue& gradient, F f) {
  const OutputRef dense = f(Expr(&scope, gradient.dense)).ref();
  const OutputRef values =
      gradient.has_rows() ? f(Expr(&scope, gradient.values)).ref() : OutputRef{};
  return WithElements(gradient, dense, values);
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
  return ForEachElement(scope, gradient, [&](const Expr& x) { return x * CastTo(by, x.dtype()); });
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
      gradient = ForEachElement(scope, gradient, [&](const Expr& x) {
        return Op("ClipByValue", x, scope.Like(x, -clip.limit), scope.Like(x, clip.limit));
      });
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
  Expr all;
  for (const ParameterGradient& item : gradients.items) {
    const Expr finite = Op("IsFinite", Elements(scope, item.gradient));
    const Expr own = Op("All", finite, AllAxes(finite));
    all = all.valid() ? Op("LogicalAnd", all, own) : own;
  }
  OrThrow(scope.status(), site);
  return Output<bool>(*gradients.graph, all.ref());
}

}  // namespace penstock
