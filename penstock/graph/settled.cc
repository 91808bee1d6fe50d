#include "penstock/graph/settled.h"

#include <algorithm>

namespace penstock {

bool HasSettledShapes(const Graph& graph, const Node& node) {
  if (!node.op->infer || node.outputs.empty()) return false;
  for (const OutputInfo& output : node.outputs) {
    if (!output.shape.IsFullyKnown()) return false;
  }
  for (const OutputRef& input : node.inputs) {
    if (input.node == kNoNode || !graph.output(input).shape.IsFullyKnown()) return false;
  }
  const std::vector<bool>& reads = node.op->traits.reads_value;
  if (std::find(reads.begin(), reads.end(), true) == reads.end()) return true;
  // Values that the rule reads must be constants: what was checked then holds now. Rules with lists
  // are left to run time.
  if (reads.size() != node.inputs.size()) return false;
  for (size_t i = 0; i < reads.size(); ++i) {
    if (reads[i] && ConstantValue(graph, node.inputs[i]) == nullptr) return false;
  }
  return true;
}

}  // namespace penstock
