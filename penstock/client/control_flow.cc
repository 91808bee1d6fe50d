#include "penstock/client/control_flow.h"

namespace penstock::client_internal {
namespace {

OutputRef Add(Graph& graph, std::string_view op, std::vector<OutputRef> inputs, AttrMap attrs,
              CallSite site) {
  NodeSpec spec;
  spec.op = op;
  spec.inputs = std::move(inputs);
  spec.attrs = std::move(attrs);
  return {AddNode(graph, std::move(spec), site), 0};
}

OutputRef AnyShape(Graph& graph, CallSite site) { return ScalarConstant(graph, -1, site); }

}  // namespace

Output<int32_t> NumRows(Graph& graph, OutputRef tensor, CallSite site) {
  const Shape& shape = graph.output(tensor).shape;
  if (shape.has_rank() && shape.rank() == 0)
    throw Error(InvalidArgument("a scalar has no rows to go over"), site);
  if (shape.has_rank() && shape.dim(0) >= 0)
    return Output<int32_t>(graph, ScalarConstant(graph, shape.dim(0), site));
  const OutputRef extents = Add(graph, "Shape", {tensor}, {{"out_type", DType::kInt32}}, site);
  const OutputRef zero = ScalarConstant(graph, 0, site);
  return Output<int32_t>(graph, Add(graph, "GatherV2", {extents, zero, zero}, {}, site));
}

Output<Variant> ReserveList(Graph& graph, const Output<int32_t>& length, DType dtype,
                            CallSite site) {
  return Output<Variant>(graph,
                         Add(graph, "TensorListReserve", {AnyShape(graph, site), length.ref()},
                             {{"element_dtype", dtype}, {"shape_type", DType::kInt32}}, site));
}

Output<Variant> SetListItem(const Output<Variant>& list, const Output<int32_t>& index,
                            OutputRef item, CallSite site) {
  Graph& graph = list.graph();
  return Output<Variant>(
      graph, Add(graph, "TensorListSetItem", {list.ref(), index.ref(), item}, {}, site));
}

OutputRef StackList(const Output<Variant>& list, DType dtype, const Shape& element, int64_t length,
                    CallSite site) {
  Graph& graph = list.graph();
  OutputRef shape = AnyShape(graph, site);
  if (element.IsFullyKnown()) {
    Tensor extents(DType::kInt32, Shape{element.rank()});
    for (int i = 0; i < element.rank(); ++i)
      extents.mutable_data<int32_t>()[i] = static_cast<int32_t>(element.dim(i));
    shape = {AddConstant(graph, extents, site), 0};
  }
  return Add(graph, "TensorListStack", {list.ref(), shape},
             {{"element_dtype", dtype}, {"num_elements", length}}, site);
}

}  // namespace penstock::client_internal
