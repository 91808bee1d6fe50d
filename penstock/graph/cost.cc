#include "penstock/graph/cost.h"

#include <algorithm>

namespace penstock {

double EstimateCycles(const Graph& graph, const Node& node, double unknown_elements) {
  constexpr double kCheapCycles = 50;
  constexpr double kCallCycles = 100;
  if (node.op->traits.cheap) return kCheapCycles;
  double elements = 0;
  auto see = [&](const Shape& shape) {
    const auto count = shape.CheckedNumElements();
    elements = std::max(elements, count ? static_cast<double>(*count) : unknown_elements);
  };
  for (const OutputInfo& output : node.outputs) see(output.shape);
  for (const OutputRef& input : node.inputs) see(graph.output(input).shape);
  return kCallCycles + elements * node.op->traits.cost;
}

}  // namespace penstock
