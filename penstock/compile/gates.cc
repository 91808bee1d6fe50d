#include <algorithm>
#include <optional>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"
#include "penstock/graph/node_check.h"

namespace penstock {
namespace {

constexpr char kGated[] = "_GatedMatMul";
// With more rows a product gains more from packing than a cell from being one node.
constexpr int64_t kMaxRows = 32;
constexpr int64_t kVector = 16;  // what the groups' columns must be a multiple of

template <class V>
V AttrOr(const Node& node, std::string_view name, V otherwise) {
  const AttrValue* attr = FindAttr(node.attrs, name);
  const V* value = attr == nullptr ? nullptr : attr->Get<V>();
  return value == nullptr ? otherwise : *value;
}

class GateFuser {
 public:
  GateFuser(Graph& graph, const OpInfo& gated) : graph_(graph), gated_(gated) {}

  Status Run() {
    TRY_ASSIGN(const std::vector<NodeId> order, graph_.TopologicalOrder());
    FindReaders(order);
    for (const NodeId id : order) {
      if (!graph_.IsLive(id) || graph_.node(id).op_name() != "_Fused") continue;
      for (const OutputRef& input : graph_.node(id).inputs) {
        const NodeId split = input.node;
        if (!IsReadBy(split, id) || !IsCell(split, id)) continue;
        Fuse(split, id);
        break;
      }
    }
    return OkStatus();
  }

 private:
  void FindReaders(const std::vector<NodeId>& order) {
    reader_.assign(static_cast<size_t>(graph_.num_nodes()), kNoNode);
    for (const NodeId id : order) {
      for (const OutputRef& input : graph_.node(id).inputs) Note(input.node, id);
      for (const NodeId control : graph_.node(id).control_inputs) Note(control, kSeveral);
    }
  }
  void Note(NodeId from, NodeId reader) {
    NodeId& known = reader_[static_cast<size_t>(from)];
    known = known == kNoNode || known == reader ? reader : kSeveral;
  }
  // Whether `reader` alone reads the node, and nobody waits for it.
  bool IsReadBy(NodeId id, NodeId reader) const {
    return reader_[static_cast<size_t>(id)] == reader;
  }

  // Whether split's parts are the equal columns of a product of few rows and of the shape that
  // `fused` computes.
  bool IsCell(NodeId split, NodeId fused) const {
    const Node& node = graph_.node(split);
    if (node.op_name() != "Split" || node.device != graph_.node(fused).device) return false;
    const Tensor* axis = ConstantValue(graph_, node.inputs[0]);
    const NodeId product = node.inputs[1].node;
    if (axis == nullptr || !IsReadBy(product, split) || !IsProduct(graph_.node(product)))
      return false;
    const int32_t along = axis->num_elements() == 1 ? axis->data<int32_t>()[0] : 0;
    const Shape& group = node.outputs[0].shape;
    if ((along != 1 && along != -1) || !group.IsFullyKnown() || group.rank() != 2) return false;
    if (group.dim(0) > kMaxRows || group.dim(1) % kVector != 0) return false;
    return graph_.node(product).device == node.device && HasShape(fused, group);
  }
  static bool IsProduct(const Node& node) {
    const bool is_product =
        node.op_name() == "MatMul" || (node.op_name() == "_EpilogueMatMul" &&
                                       AttrOr<std::vector<std::string>>(node, "fused_ops", {}) ==
                                           std::vector<std::string>{"BiasAdd"});
    return is_product && node.outputs[0].dtype == DType::kFloat &&
           !AttrOr(node, "transpose_a", false) && !AttrOr(node, "transpose_b", false);
  }
  bool HasShape(NodeId fused, const Shape& group) const {
    const Node& node = graph_.node(fused);
    const Shape row{group.dim(1)}, one_row{1, group.dim(1)};
    return std::all_of(node.outputs.begin(), node.outputs.end(),
                       [&](const OutputInfo& output) { return output.shape == group; }) &&
           std::all_of(node.inputs.begin(), node.inputs.end(), [&](const OutputRef& input) {
             const Shape& shape = graph_.output(input).shape;
             return shape == group || shape == row || shape == one_row ||
                    (shape.IsFullyKnown() && shape.num_elements() == 1);
           });
  }

  // `fused` becomes the cell: its readers need not know.
  void Fuse(NodeId split, NodeId fused) {
    const Node& cell = graph_.node(fused);
    const NodeId product = graph_.node(split).inputs[1].node;
    const auto num_groups = static_cast<int64_t>(graph_.node(split).outputs.size());
    std::vector<OutputRef> inputs = graph_.node(product).inputs, rest;
    const auto num_bias = static_cast<int64_t>(inputs.size()) - 2;
    std::vector<DType> rest_types;
    std::vector<int64_t> renumbered;
    for (const OutputRef& input : cell.inputs) {
      if (input.node == split) {
        renumbered.push_back(input.port);
        continue;
      }
      renumbered.push_back(num_groups + static_cast<int64_t>(rest.size()));
      rest.push_back(input);
      rest_types.push_back(graph_.output(input).dtype);
    }
    // Results follow the inputs, of which there may be more now: a part that nobody reads counts.
    const auto num_before = static_cast<int64_t>(cell.inputs.size());
    const int64_t shift = num_groups + static_cast<int64_t>(rest.size()) - num_before;
    auto renumber = [&](std::vector<int64_t> values) {
      for (int64_t& value : values) {
        if (value >= num_before) {
          value += shift;
        } else if (value >= 0) {
          value = renumbered[static_cast<size_t>(value)];
        }
      }
      return values;
    };
    AttrMap attrs{{"T", DType::kFloat},
                  {"num_groups", num_groups},
                  {"num_bias", num_bias},
                  {"Trest", rest_types},
                  {"Tout", AttrOr<std::vector<DType>>(cell, "Tout", {})},
                  {"ops", AttrOr<std::vector<std::string>>(cell, "ops", {})},
                  {"args", renumber(AttrOr<std::vector<int64_t>>(cell, "args", {}))},
                  {"types", AttrOr<std::vector<DType>>(cell, "types", {})},
                  {"results", renumber(AttrOr<std::vector<int64_t>>(cell, "results", {}))}};
    const Result<NodeTypes> types = ExpandTypes(gated_.def, attrs);
    if (!types.ok()) return;
    Result<DecodedOp> decoded = gated_.decode(attrs, *types);
    if (!decoded.ok()) return;
    inputs.insert(inputs.end(), rest.begin(), rest.end());
    Become(fused, {product, split}, std::move(inputs), std::move(attrs), *std::move(decoded));
  }

  void Become(NodeId fused, std::initializer_list<NodeId> members, std::vector<OutputRef> inputs,
              AttrMap attrs, DecodedOp decoded) {
    Node& node = graph_.node(fused);
    for (const NodeId id : members) {
      for (const NodeId control : graph_.node(id).control_inputs) {
        std::vector<NodeId>& waits = node.control_inputs;
        if (std::find(waits.begin(), waits.end(), control) == waits.end()) waits.push_back(control);
      }
      graph_.RemoveNode(id);
    }
    node.op = &gated_;
    node.inputs = std::move(inputs);
    node.attrs = std::move(attrs);
    node.decoded = std::move(decoded);
  }

  static constexpr NodeId kSeveral = -2;  // or one that waits

  Graph& graph_;
  const OpInfo& gated_;
  std::vector<NodeId> reader_;  // the only one of each node
};

}  // namespace

Status FuseGates(Graph& graph) {
  const OpInfo* gated = graph.registry().Find(kGated);
  if (gated == nullptr) return OkStatus();
  return GateFuser(graph, *gated).Run();
}

}  // namespace penstock
