#include "penstock/compile/shape_classes.h"

#include <algorithm>
#include <utility>

namespace penstock {

bool Absorbs(const Shape& big, const Shape& small) {
  if (small.IsScalar()) return true;
  if (!small.has_rank() || !big.has_rank() || small.rank() > big.rank()) return false;
  for (int axis = 0; axis < small.rank(); ++axis) {
    const int64_t dim = small[axis];
    if (dim != 1 && (dim < 0 || dim != big[axis + big.rank() - small.rank()])) return false;
  }
  return true;
}

ShapeClasses::ShapeClasses(const Graph& graph, const std::vector<NodeId>& order,
                           Predicate is_elementwise)
    : graph_(graph),
      is_elementwise_(std::move(is_elementwise)),
      first_(static_cast<size_t>(graph.num_nodes()), 0) {
  classes_.reserve(order.size());
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    first_[id] = static_cast<int32_t>(classes_.size());
    for (const OutputInfo& output : node.outputs) classes_.push_back(ClassOf(node, output));
  }
}

int32_t ShapeClasses::ClassOf(const Node& node, const OutputInfo& output) {
  if (output.shape.IsFullyKnown()) return ClassOfFullShape(output.shape);
  if (!is_elementwise_(node)) return num_classes_++;
  for (const OutputRef& big : node.inputs) {
    const bool absorbs_all =
        std::all_of(node.inputs.begin(), node.inputs.end(), [&](const OutputRef& other) {
          return (*this)[other] == (*this)[big] ||
                 Absorbs(graph_.output(big).shape, graph_.output(other).shape);
        });
    if (absorbs_all) return (*this)[big];
  }
  return num_classes_++;
}

int32_t ShapeClasses::ClassOfFullShape(const Shape& shape) {
  const auto dims = shape.dims();
  const std::string key(reinterpret_cast<const char*>(dims.data()), dims.size_bytes());
  const auto [it, is_new] = full_shapes_.emplace(key, num_classes_);
  num_classes_ += is_new;
  return it->second;
}

}  // namespace penstock
