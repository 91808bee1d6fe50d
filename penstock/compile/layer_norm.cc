#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"

namespace penstock {
namespace {

// Finds, from its last node up, what programs write for the normalisation of rows:
//   mean = Mean(x), variance = Mean(SquaredDifference(x, mean)),
//   scale = Rsqrt(variance + epsilon) * gamma,
//   y = x * scale + (beta - mean * scale).
class LayerNormFinder {
 public:
  explicit LayerNormFinder(Graph& graph) : graph_(graph) {
    uses_.assign(static_cast<size_t>(graph.num_nodes()), 0);
    for (NodeId id = 0; id < graph.num_nodes(); ++id) {
      if (!graph.IsLive(id)) continue;
      for (const OutputRef& input : graph.node(id).inputs) {
        if (input.node != kNoNode) ++uses_[input.node];
      }
      for (const NodeId control : graph.node(id).control_inputs) ++uses_[control];
    }
    if (const auto targets = graph.collections.find("targets");
        targets != graph.collections.end()) {
      for (const NodeId target : targets->second) ++uses_[target];
    }
  }

  struct Parts {
    OutputRef x, gamma, beta;
    float epsilon;
  };
  std::optional<Parts> Find(NodeId root) const {
    Parts parts;
    const Node& sum = graph_.node(root);
    if (!IsAdd(sum) || sum.outputs[0].dtype != DType::kFloat || !sum.control_inputs.empty())
      return {};
    for (const int swapped : {0, 1}) {
      const Node* scaled = Inner(sum.inputs[swapped], "Mul", 1);
      const Node* shift = Inner(sum.inputs[1 - swapped], "Sub", 1);
      if (scaled == nullptr || shift == nullptr) continue;
      const Node* moved = Inner(shift->inputs[1], "Mul", 1);
      if (moved == nullptr) continue;
      parts.beta = shift->inputs[0];
      for (const int k : {0, 1}) {
        for (const int m : {0, 1}) {
          if (!(scaled->inputs[1 - k] == moved->inputs[1 - m])) continue;
          parts.x = scaled->inputs[k];
          if (FindScale(scaled->inputs[1 - k], moved->inputs[m], parts)) return parts;
        }
      }
    }
    return {};
  }

 private:
  static bool IsAdd(const Node& node) {
    return node.op != nullptr && (node.op_name() == "AddV2" || node.op_name() == "Add");
  }
  // The node of that op behind `ref` if it has as many readers as the whole has for it.
  const Node* Inner(OutputRef ref, std::string_view op, int uses) const {
    if (ref.node == kNoNode || ref.port != 0) return nullptr;
    const Node& node = graph_.node(ref.node);
    const bool is_op = op == "Add" ? IsAdd(node) : node.op_name() == op;
    // What is skipped must not be waited for, nor read a variable at its own time.
    const bool is_plain = node.control_inputs.empty() && !ReadsVariable(graph_, node);
    return is_op && is_plain && uses_[ref.node] == uses ? &node : nullptr;
  }
  bool FindScale(OutputRef scale, OutputRef mean, Parts& parts) const {
    const Node* product = Inner(scale, "Mul", 2);
    if (product == nullptr) return false;
    for (const int k : {0, 1}) {
      const Node* inverse = Inner(product->inputs[k], "Rsqrt", 1);
      if (inverse == nullptr) continue;
      parts.gamma = product->inputs[1 - k];
      const Node* sum = Inner(inverse->inputs[0], "Add", 1);
      if (sum != nullptr && FindMoments(*sum, mean, parts)) return true;
    }
    return false;
  }
  bool FindMoments(const Node& sum, OutputRef mean, Parts& parts) const {
    for (const int k : {0, 1}) {
      const Node* variance = Inner(sum.inputs[k], "Mean", 1);
      const Tensor* epsilon = ConstantValue(graph_, sum.inputs[1 - k]);
      const Node* average = Inner(mean, "Mean", 2);
      if (variance == nullptr || epsilon == nullptr || average == nullptr) continue;
      const Node* squares = Inner(variance->inputs[0], "SquaredDifference", 1);
      if (squares == nullptr || epsilon->num_elements() != 1) continue;
      const bool fits = (squares->inputs[0] == parts.x && squares->inputs[1] == mean) ||
                        (squares->inputs[1] == parts.x && squares->inputs[0] == mean);
      if (!fits || !(average->inputs[0] == parts.x)) continue;
      parts.epsilon = *epsilon->data<float>();
      return IsOverRows(*average, parts) && IsOverRows(*variance, parts) && HasVectors(parts);
    }
    return false;
  }
  // Reduces the last axis of x, and keeps it.
  bool IsOverRows(const Node& mean, const Parts& parts) const {
    const Shape& x = graph_.output(parts.x).shape;
    const AttrValue* keeps = FindAttr(mean.attrs, "keep_dims");
    const bool* kept = keeps == nullptr ? nullptr : keeps->Get<bool>();
    const Tensor* axes = ConstantValue(graph_, mean.inputs[1]);
    if (!x.has_rank() || kept == nullptr || !*kept || axes == nullptr || axes->num_elements() != 1)
      return false;
    const int64_t axis =
        axes->dtype() == DType::kInt32 ? *axes->data<int32_t>() : *axes->data<int64_t>();
    return axis == -1 || axis == x.rank() - 1;
  }
  bool HasVectors(const Parts& parts) const {
    const Shape& x = graph_.output(parts.x).shape;
    const int64_t columns = x.rank() == 0 ? 0 : x.dim(x.rank() - 1);
    const Shape wanted{columns};
    return columns > 0 && graph_.output(parts.gamma).shape == wanted &&
           graph_.output(parts.beta).shape == wanted;
  }

  const Graph& graph_;
  std::vector<int32_t> uses_;
};

}  // namespace

Status FuseLayerNorms(Graph& graph) {
  const OpInfo* op = graph.registry().Find("_FusedLayerNorm");
  if (op == nullptr) return OkStatus();
  const LayerNormFinder finder(graph);
  std::vector<NodeId> unread;
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id)) continue;
    const auto parts = finder.Find(id);
    if (!parts) continue;
    for (const OutputRef& input : graph.node(id).inputs) unread.push_back(input.node);
    TRY(TurnInto(graph, id, *op, {{"epsilon", parts->epsilon}},
                 {parts->x, parts->gamma, parts->beta}));
  }
  RemoveUnread(graph, std::move(unread));
  return OkStatus();
}

}  // namespace penstock
