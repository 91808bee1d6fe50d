#include "penstock/graph/extents.h"

namespace penstock {
namespace {

constexpr int kMaxDepth = 8;  // inference looks back a few nodes, never the whole program

std::optional<Shape> Extents(const Graph& graph, OutputRef ref, int depth);

std::optional<int64_t> IntegerAt(const Tensor& tensor, int64_t index) {
  if (tensor.dtype() == DType::kInt32) return tensor.data<int32_t>()[index];
  if (tensor.dtype() == DType::kInt64) return tensor.data<int64_t>()[index];
  return std::nullopt;
}

// One scalar extent: a constant, or one element picked out of a known vector.
int64_t ScalarExtent(const Graph& graph, OutputRef ref, int depth) {
  if (const Tensor* value = ConstantValue(graph, ref)) {
    return value->num_elements() == 1 ? IntegerAt(*value, 0).value_or(-1) : -1;
  }
  if (depth >= kMaxDepth) return -1;
  const Node& node = graph.node(ref.node);
  const std::string& op = node.op_name();
  if (op == "Identity" || op == "Cast") return ScalarExtent(graph, node.inputs[0], depth + 1);
  if (op != "StridedSlice") return -1;
  const AttrValue* shrink = FindAttr(node.attrs, "shrink_axis_mask");
  const Tensor* begin = ConstantValue(graph, node.inputs[1]);
  if (shrink == nullptr || !(*shrink == AttrValue(int64_t{1})) || begin == nullptr ||
      begin->num_elements() != 1)
    return -1;
  const auto vector = Extents(graph, node.inputs[0], depth + 1);
  if (!vector || !vector->has_rank()) return -1;
  int64_t index = IntegerAt(*begin, 0).value_or(-1);
  if (index < 0) index += vector->rank();
  return InRange(index, vector->rank()) ? vector->dim(static_cast<int>(index)) : -1;
}

std::optional<Shape> ConstantExtents(const Tensor& value) {
  if (value.shape().rank() != 1 || value.num_elements() > Shape::kMaxRank) return std::nullopt;
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < value.num_elements(); ++i)
    dims.push_back(IntegerAt(value, i).value_or(-1));
  Result<Shape> shape = Shape::Make(dims);
  return shape.ok() ? std::optional<Shape>(*shape) : std::nullopt;
}

std::optional<Shape> Extents(const Graph& graph, OutputRef ref, int depth) {
  if (const Tensor* value = ConstantValue(graph, ref)) return ConstantExtents(*value);
  if (depth >= kMaxDepth) return std::nullopt;
  const Node& node = graph.node(ref.node);
  const std::string& op = node.op_name();
  if (op == "Shape" || op == "ShapeN") {
    const Shape& shape = graph.output(node.inputs[ref.port]).shape;
    return shape.has_rank() ? std::optional<Shape>(shape) : std::nullopt;
  }
  if (op == "Identity" || op == "Cast") return Extents(graph, node.inputs[0], depth + 1);
  std::vector<int64_t> dims;
  if (op == "Pack") {
    if (!graph.output(node.inputs[0]).shape.IsScalar()) return std::nullopt;
    for (const OutputRef& input : node.inputs)
      dims.push_back(ScalarExtent(graph, input, depth + 1));
  } else if (op == "ConcatV2") {
    for (size_t i = 0; i + 1 < node.inputs.size(); ++i) {
      const auto part = Extents(graph, node.inputs[i], depth + 1);
      if (!part || !part->has_rank()) return std::nullopt;
      dims.insert(dims.end(), part->dims().begin(), part->dims().end());
    }
  } else {
    return std::nullopt;
  }
  if (dims.size() > static_cast<size_t>(Shape::kMaxRank)) return std::nullopt;
  for (int64_t& dim : dims) dim = dim < 0 ? -1 : dim;
  Result<Shape> shape = Shape::Make(dims);
  return shape.ok() ? std::optional<Shape>(*shape) : std::nullopt;
}

}  // namespace

std::optional<Shape> KnownExtents(const Graph& graph, OutputRef ref) {
  return Extents(graph, ref, 0);
}

}  // namespace penstock
