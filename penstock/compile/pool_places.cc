#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"

namespace penstock {
namespace {

// The windows of a pooling or of its derivative, wherever its op keeps them.
struct Windows {
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format;
  bool operator==(const Windows&) const = default;

  AttrMap ToAttrs() const {
    return {{"ksize", ksize},
            {"strides", strides},
            {"padding", padding},
            {"explicit_paddings", explicit_paddings},
            {"data_format", data_format}};
  }
  // True when the places of a window are as many as the ops take, and lie along rows and columns.
  bool AreCountable() const {
    constexpr int64_t kMostPlaces = 256;
    const bool channels_first = data_format == "NCHW";
    if ((!channels_first && data_format != "NHWC") || ksize.size() != 4 || strides.size() != 4)
      return false;
    const size_t channel = channels_first ? 1 : 3;
    int64_t places = 1;
    for (size_t i = 0; i < 4; ++i) {
      const bool is_pooled = i != 0 && i != channel;
      if (ksize[i] < 1 || strides[i] < 1 || (!is_pooled && ksize[i] * strides[i] != 1))
        return false;
      if (ksize[i] > kMostPlaces || strides[i] > INT32_MAX) return false;
      places *= ksize[i];
    }
    return places <= kMostPlaces;
  }
};

template <class V>
V AttrOf(const Node& node, std::string_view name) {
  const AttrValue* value = FindAttr(node.attrs, name);
  const V* typed = value == nullptr ? nullptr : value->Get<V>();
  return typed == nullptr ? V() : *typed;
}

std::vector<int64_t> ConstantIntegers(const Graph& graph, OutputRef ref) {
  const Tensor* value = ConstantValue(graph, ref);
  if (value == nullptr || value->dtype() != DType::kInt32) return {};
  const int32_t* values = value->data<int32_t>();
  return {values, values + value->num_elements()};
}

// None when the ops that tell places do not take them. A V2 op reads them from its inputs, from
// `first_input` on.
std::optional<Windows> WindowsOf(const Graph& graph, const Node& node, size_t first_input) {
  Windows windows;
  if (node.inputs.size() > first_input) {
    windows.ksize = ConstantIntegers(graph, node.inputs[first_input]);
    windows.strides = ConstantIntegers(graph, node.inputs[first_input + 1]);
  } else {
    windows.ksize = AttrOf<std::vector<int64_t>>(node, "ksize");
    windows.strides = AttrOf<std::vector<int64_t>>(node, "strides");
    windows.explicit_paddings = AttrOf<std::vector<int64_t>>(node, "explicit_paddings");
  }
  windows.padding = AttrOf<std::string>(node, "padding");
  windows.data_format = AttrOf<std::string>(node, "data_format");
  return windows.AreCountable() ? std::optional(windows) : std::nullopt;
}

// The shape of the pooled array, for the derivative to read: that needs no more of it.
Result<OutputRef> ShapeOf(Graph& graph, OutputRef x, const Node& reader) {
  const Shape shape = graph.output(x).shape;
  NodeSpec spec{.op = "Shape",
                .name = reader.name + "/shape",
                .inputs = {x},
                .attrs = {{"out_type", DType::kInt64}},
                .device = reader.device,
                .site = reader.site};
  if (shape.IsFullyKnown()) {
    Tensor value(DType::kInt64, Shape{shape.rank()});
    std::copy(shape.dims().begin(), shape.dims().end(), value.mutable_data<int64_t>());
    spec.op = "Const";
    spec.inputs = {};
    spec.attrs = {{"value", value}, {"dtype", value.dtype()}};
  }
  TRY_ASSIGN(const NodeId id, graph.AddNode(std::move(spec)));
  return OutputRef{id, 0};
}

// A pooling and its derivative that read the same float array.
class Pair {
 public:
  Pair(Graph& graph, NodeId derivative) : graph_(graph), derivative_(derivative) {}

  bool Matches() {
    const Node& derivative = graph_.node(derivative_);
    const std::string& op = derivative.op_name();
    if (op != "MaxPoolGrad" && op != "MaxPoolGradV2") return false;
    pooling_ = derivative.inputs[1].node;
    const Node& pooling = graph_.node(pooling_);
    const bool was_pooling = pooling.op_name() == "_MaxPoolPlaces";
    if (pooling.op_name() != "MaxPool" && pooling.op_name() != "MaxPoolV2" && !was_pooling)
      return false;
    // A variable may have changed between the two.
    const bool reads_same = derivative.inputs[1].port == 0 &&
                            derivative.inputs[0] == pooling.inputs[0] &&
                            !ReadsVariable(graph_, pooling) && !ReadsVariable(graph_, derivative);
    if (!reads_same || derivative.outputs[0].dtype != DType::kFloat ||
        derivative.device != pooling.device)
      return false;
    windows_ = WindowsOf(graph_, derivative, 3);
    return windows_ && windows_ == WindowsOf(graph_, pooling, 1);
  }

  Status Rewrite(const OpInfo& pool, const OpInfo& gradient) {
    const OutputRef x = graph_.node(derivative_).inputs[0],
                    grad = graph_.node(derivative_).inputs[2];
    Node& pooling = graph_.node(pooling_);
    if (pooling.op != &pool) {
      TRY(TurnInto(graph_, pooling_, pool, windows_->ToAttrs(), {x}));
      pooling.outputs.push_back({DType::kUint8, false, pooling.outputs[0].shape});
    }
    TRY_ASSIGN(const OutputRef shape, ShapeOf(graph_, x, graph_.node(derivative_)));
    return TurnInto(graph_, derivative_, gradient, windows_->ToAttrs(),
                    {shape, {pooling_, 1}, grad});
  }

 private:
  Graph& graph_;
  NodeId derivative_;
  NodeId pooling_ = kNoNode;
  std::optional<Windows> windows_;
};

}  // namespace

// The derivative reads the pooling's output already: another edge between the two closes no cycle,
// and both belong to one branch and one loop.
Status HandOverPoolPlaces(Graph& graph) {
  const OpInfo* pool = graph.registry().Find("_MaxPoolPlaces");
  const OpInfo* gradient = graph.registry().Find("_MaxPoolPlacesGrad");
  if (pool == nullptr || gradient == nullptr) return OkStatus();
  std::vector<NodeId> unread;
  const NodeId end = graph.num_nodes();
  for (NodeId id = 0; id < end; ++id) {
    if (!graph.IsLive(id)) continue;
    Pair pair(graph, id);
    if (!pair.Matches()) continue;
    for (const OutputRef& input : graph.node(id).inputs) unread.push_back(input.node);
    TRY(pair.Rewrite(*pool, *gradient));
  }
  RemoveUnread(graph, std::move(unread));
  return OkStatus();
}

}  // namespace penstock
