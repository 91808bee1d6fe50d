#include "penstock/train/loss/metric_builder.h"

#include <cstring>

namespace penstock::loss_internal {

Expr MetricBuilder::Accumulate(std::string_view name, const Expr& amount) {
  OrThrow(scope().status(), build_.site());
  Graph& graph = scope().graph();
  const DType dtype = amount.dtype();
  const Shape shape = amount.shape();
  const auto add = [&](NodeSpec spec) {
    spec.name = std::string(name) + spec.name;
    return OrThrow(scope().AddNode(std::move(spec)), build_.site());
  };
  const NodeId handle = add({.op = "VarHandleOp", .attrs = {{"dtype", dtype}, {"shape", shape}}});
  // State is shared by name.
  SetAttr(graph.node(handle).attrs, "shared_name", graph.node(handle).name);
  graph.node(handle).decoded = OrThrow(graph.Redecode(handle), build_.site());
  Tensor zeros = OrThrow(Tensor::Make(HostAllocator(), dtype, shape), build_.site());
  std::memset(zeros.mutable_raw(), 0, zeros.bytes());
  const Expr zero = scope().Constant(zeros, "zeros");
  OrThrow(scope().status(), build_.site());
  const NodeId reset =
      add({.op = "AssignVariableOp", .name = "/reset", .inputs = {{handle, 0}, zero.ref()}});
  resets_.push_back(reset);
  graph.collections["initializers"].push_back(reset);
  graph.collections["metric_variables"].push_back(handle);
  updates_.push_back(
      add({.op = "AssignAddVariableOp", .name = "/add", .inputs = {{handle, 0}, amount.ref()}}));
  const NodeId read = add({.op = "ReadVariableOp",
                           .name = "/read",
                           .inputs = {{handle, 0}},
                           .attrs = {{"dtype", dtype}}});
  graph.node(read).outputs[0].shape = shape;
  return Expr(&scope(), {read, 0});
}

Expr MetricBuilder::WeightedSum(const Expr& values) const {
  return CastTo(build_(build_.Reduce(values, weights_, Reduction::kSum)), DType::kDouble);
}

Expr MetricBuilder::RunningMean(const Expr& values) {
  const Expr total = Accumulate("total", WeightedSum(values));
  const Expr count = Accumulate("count", WeightedSum(Op("OnesLike", values)));
  return CastTo(SafeRatio(total, count), DType::kFloat);
}

Operation MetricBuilder::Grouped(std::string_view name, const std::vector<NodeId>& nodes) const {
  const NodeId group =
      OrThrow(scope().AddNode({.op = "NoOp", .name = std::string(name), .control_inputs = nodes}),
              build_.site());
  return Operation(scope().graph(), group);
}

}  // namespace penstock::loss_internal
