#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

// True when broadcasting a tensor of shape `small` to one of shape `big` always gives the shape of
// the latter, as far as the two are known.
bool Absorbs(const Shape& big, const Shape& small);

// Which outputs of a graph provably have the same shape, also where that is not fully known:
// through an element-wise node it is that of the input which absorbs the others.
class ShapeClasses {
 public:
  using Predicate = std::function<bool(const Node& node)>;

  // `order` is a topological one.
  ShapeClasses(const Graph& graph, const std::vector<NodeId>& order, Predicate is_elementwise);

  // Outputs of equal class have equal shapes.
  int32_t operator[](OutputRef ref) const { return classes_[Index(ref)]; }

  // Numbers the outputs of the graph from 0 on.
  size_t Index(OutputRef ref) const { return static_cast<size_t>(first_[ref.node] + ref.port); }
  size_t num_outputs() const { return classes_.size(); }

 private:
  int32_t ClassOf(const Node& node, const OutputInfo& output);
  int32_t ClassOfFullShape(const Shape& shape);

  const Graph& graph_;
  const Predicate is_elementwise_;
  int32_t num_classes_ = 0;
  std::vector<int32_t> first_;  // by node: where its outputs begin
  std::vector<int32_t> classes_;
  std::unordered_map<std::string, int32_t> full_shapes_;  // by the bytes of the extents
};

}  // namespace penstock
