#include "penstock/client/derivatives.h"

#include "penstock/client/custom_gradient.h"
#include "penstock/graph/gradients.h"

namespace penstock::client_internal {
namespace {

// Whether two shapes may be the same.
bool MayAgree(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return true;
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) >= 0 && b.dim(i) >= 0 && a.dim(i) != b.dim(i)) return false;
  }
  return true;
}

void CheckDirections(const Graph& graph, const std::vector<OutputRef>& xs,
                     const std::vector<OutputRef>& dxs, CallSite site) {
  if (xs.size() != dxs.size()) {
    throw Error(InvalidArgument("a derivative of {} arguments needs as many directions, got {}",
                                xs.size(), dxs.size()),
                site);
  }
  for (size_t i = 0; i < xs.size(); ++i) {
    const OutputInfo& x = graph.output(xs[i]);
    const OutputInfo& dx = graph.output(dxs[i]);
    if (x.dtype == dx.dtype && MayAgree(x.shape, dx.shape)) continue;
    throw Error(InvalidArgument("the direction for {} must be {} {}, got {} {}",
                                graph.NameOf(xs[i]), x.dtype, x.shape, dx.dtype, dx.shape),
                site);
  }
}

OutputRef Checked(const Scope& scope, const Expr& expr, CallSite site) {
  OrThrow(scope.status(), site);
  return expr.ref();
}

Expr IntConstant(const Scope& scope, int32_t value) {
  return scope.Constant(Tensor::Scalar<int32_t>(value));
}

}  // namespace

void CheckGradientFits(const Graph& graph, OutputRef x, OutputRef gradient, CallSite site) {
  const Shape& want = graph.output(x).shape;
  const Shape& got = graph.output(gradient).shape;
  if (MayAgree(want, got)) return;
  throw Error(InvalidArgument("a gradient must have the shape of its argument: expected {}, got {}",
                              want, got),
              site);
}

OutputRef AddStandIn(Graph& graph, OutputRef value, CallSite site) {
  const Scope scope = BuildScope::Current(graph, site);
  return Checked(scope, Op("Identity", Expr(&scope, value)), site);
}

OutputRef AddForwardDerivative(Graph& graph, OutputRef y, const std::vector<OutputRef>& xs,
                               const std::vector<OutputRef>& dxs, CallSite site) {
  CheckDirections(graph, xs, dxs, site);
  const Scope scope = BuildScope::Current(graph, site);
  const OutputRef seed = Checked(scope, Op("ZerosLike", Expr(&scope, y)), site);
  const std::vector<OutputRef> back = AddGradients(graph, {y, xs, seed, Unconnected::kNone}, site);
  GradientRequest request{.ys = {}, .xs = {seed}};
  for (size_t i = 0; i < xs.size(); ++i) {
    if (back[i].node == kNoNode) continue;
    request.ys.push_back(back[i]);
    request.dys.push_back(dxs[i]);
  }
  if (request.ys.empty()) return seed;  // y depends on none
  const OutputRef forward = OrThrow(penstock::AddGradients(scope, request), site)[0];
  return forward.node == kNoNode ? seed : forward;
}

OutputRef AddUnitVector(Graph& graph, OutputRef y, OutputRef index, CallSite site) {
  const Scope scope = BuildScope::Current(graph, site);
  const Expr like(&scope, y);
  const Expr one_hot = scope.Add(
      "OneHot", {Expr(&scope, index), Op("Size", like), scope.Like(like, 1), scope.Like(like, 0)});
  return Checked(scope, Op("Reshape", one_hot, Op("Shape", like)), site);
}

OutputRef AddJacobianShape(Graph& graph, OutputRef rows, OutputRef y, OutputRef x, CallSite site) {
  const Scope scope = BuildScope::Current(graph, site);
  const Expr shape = scope.Add("ConcatV2", {Op("Shape", Expr(&scope, y)),
                                            Op("Shape", Expr(&scope, x)), IntConstant(scope, 0)});
  const OutputRef shaped = Checked(scope, Op("Reshape", Expr(&scope, rows), shape), site);
  const Shape& of_y = graph.output(y).shape;
  const Shape& of_x = graph.output(x).shape;
  if (of_y.has_rank() && of_x.has_rank()) {
    std::vector<int64_t> dims;
    for (int i = 0; i < of_y.rank(); ++i) dims.push_back(of_y.dim(i));
    for (int i = 0; i < of_x.rank(); ++i) dims.push_back(of_x.dim(i));
    graph.node(shaped.node).outputs[0].shape = Shape(dims);
  }
  return shaped;
}

OutputRef AddPack(Graph& graph, const std::vector<OutputRef>& values, CallSite site) {
  NodeSpec spec;
  spec.op = "Pack";
  spec.inputs = values;
  return {AddNode(graph, std::move(spec), site), 0};
}

Output<int32_t> AddElementNumbers(Graph& graph, OutputRef of, CallSite site) {
  const Scope scope = BuildScope::Current(graph, site);
  const Expr range = scope.Add(
      "Range", {IntConstant(scope, 0), Op("Size", Expr(&scope, of)), IntConstant(scope, 1)});
  return Output<int32_t>(graph, Checked(scope, range, site));
}

}  // namespace penstock::client_internal
