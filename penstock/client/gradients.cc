#include "penstock/client/gradients.h"

#include "penstock/client/build_scope.h"
#include "penstock/client/error.h"
#include "penstock/graph/gradients.h"

namespace penstock::client_internal {
namespace {

std::string NamesOfMissing(const Graph& graph, const std::vector<OutputRef>& xs,
                           const std::vector<OutputRef>& gradients) {
  std::string names;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (gradients[i].node != kNoNode) continue;
    if (!names.empty()) names += ", ";
    names += graph.NameOf(xs[i]);
  }
  return names;
}

// Zeros like an output, or like what the variable behind a handle holds.
Expr ZerosLike(const Scope& scope, OutputRef x) {
  const Graph& graph = scope.graph();
  const AttrValue* dtype = FindAttr(graph.node(x.node).attrs, "dtype");
  if (graph.output(x).dtype != DType::kResource || dtype == nullptr)
    return Op("ZerosLike", Expr(&scope, x));
  return Op("ZerosLike", Op("ReadVariableOp", Expr(&scope, x), {{"dtype", *dtype}}));
}

}  // namespace

std::vector<OutputRef> AddGradients(Graph& graph, const GradientsAsked& asked, CallSite site) {
  const Scope scope = BuildScope::Current(graph, site);
  std::vector<OutputRef> gradients = OrThrow(
      penstock::AddGradients(scope, {.ys = {asked.y}, .xs = asked.xs, .dys = {asked.dy}}), site);
  if (asked.unconnected == Unconnected::kNone) return gradients;
  if (asked.unconnected == Unconnected::kError) {
    const std::string missing = NamesOfMissing(graph, asked.xs, gradients);
    if (missing.empty()) return gradients;
    throw Error(
        InvalidArgument("{} does not depend on {}: no gradient", graph.NameOf(asked.y), missing),
        site);
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].node == kNoNode) gradients[i] = ZerosLike(scope, asked.xs[i]).ref();
  }
  OrThrow(scope.status(), site);
  return gradients;
}

}  // namespace penstock::client_internal
