#include "penstock/client/array_ops.h"

#include <numeric>

#include "penstock/client/constant.h"

namespace penstock::client_internal {
namespace {

int32_t ToInt32(int64_t value, CallSite site) {
  if (value < INT32_MIN || value > INT32_MAX)
    throw Error(InvalidArgument("{} does not fit an int32", value), site);
  return static_cast<int32_t>(value);
}

OutputRef VectorConstant(Graph& graph, const std::vector<int64_t>& values, CallSite site) {
  Tensor tensor(DType::kInt32, Shape{static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.mutable_data<int32_t>()[i] = ToInt32(values[i], site);
  }
  return {AddConstant(graph, tensor, site), 0};
}

}  // namespace

NodeId AddReduction(Graph& graph, std::string_view op, OutputRef input,
                    const std::vector<int64_t>& axes, bool keep_dims, CallSite site) {
  NodeSpec spec;
  spec.op = op;
  spec.inputs = {input, VectorConstant(graph, axes, site)};
  spec.attrs = {{"keep_dims", keep_dims}};
  return AddNode(graph, std::move(spec), site);
}

NodeId AddCast(Graph& graph, OutputRef input, DType to, CallSite site) {
  NodeSpec spec;
  spec.op = "Cast";
  spec.inputs = {input};
  spec.attrs = {{"DstT", to}};
  return AddNode(graph, std::move(spec), site);
}

NodeId AddArrayOp(Graph& graph, std::string_view op, std::vector<OutputRef> inputs,
                  std::initializer_list<std::vector<int64_t>> constants, CallSite site) {
  NodeSpec spec;
  spec.op = op;
  spec.inputs = std::move(inputs);
  for (const std::vector<int64_t>& values : constants) {
    spec.inputs.push_back(VectorConstant(graph, values, site));
  }
  return AddNode(graph, std::move(spec), site);
}

OutputRef ScalarConstant(Graph& graph, int64_t value, CallSite site) {
  return {AddConstant(graph, Tensor::Scalar<int32_t>(ToInt32(value, site)), site), 0};
}

NodeId AddSplit(Graph& graph, OutputRef value, int64_t count, int64_t axis, CallSite site) {
  NodeSpec spec;
  spec.op = "Split";
  spec.inputs = {ScalarConstant(graph, axis, site), value};
  spec.attrs = {{"num_split", count}};
  return AddNode(graph, std::move(spec), site);
}

std::vector<int64_t> AllAxes(const Shape& shape, CallSite site) {
  if (!shape.has_rank()) {
    throw Error(InvalidArgument("the rank is not known here: name the axes to reduce"), site);
  }
  std::vector<int64_t> axes(static_cast<size_t>(shape.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

}  // namespace penstock::client_internal
