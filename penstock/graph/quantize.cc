#include "penstock/graph/quantize.h"

#include <algorithm>

#include "penstock/graph/scope.h"
#include "penstock/graph/turn_into.h"

namespace penstock {
namespace {

// A tensor in 8 bits, and the range they stand for.
struct Quantized {
  Expr values, low, high;
};

Quantized Quantize(const Scope& scope, const Expr& value) {
  const Expr flat = Op("Reshape", value, scope.Constant(Tensor::FromValues<int32_t>({1}, {-1})));
  const Expr all = scope.Constant(Tensor::FromValues<int32_t>({1}, {0}));
  const Expr quantized = Op("QuantizeV2", value, Op("Min", flat, all), Op("Max", flat, all),
                            {{"T", DType::kQuint8}, {"mode", "MIN_FIRST"}});
  if (!quantized.valid()) return {};
  return {quantized, quantized.Output(1), quantized.Output(2)};
}

template <class T>
bool Is(const Node& node, std::string_view attr, const T& value) {
  const AttrValue* found = FindAttr(node.attrs, attr);
  return found != nullptr && *found == AttrValue(value);
}

bool CanBeQuantized(const Graph& graph, const Node& node) {
  const bool is_product = node.op_name() == "MatMul";
  const bool is_convolution = node.op_name() == "Conv2D" && Is(node, "data_format", "NHWC") &&
                              !Is(node, "padding", "EXPLICIT");
  if (!is_product && !is_convolution) return false;
  const Tensor* weights = ConstantValue(graph, node.inputs[1]);
  return weights != nullptr && weights->dtype() == DType::kFloat && weights->num_elements() > 0;
}

// Attributes of these names, where the node has them.
AttrMap Pick(const Node& node, std::initializer_list<std::string_view> names) {
  AttrMap attrs;
  for (const auto& attr : node.attrs) {
    if (std::find(names.begin(), names.end(), attr.first) != names.end()) attrs.push_back(attr);
  }
  return attrs;
}

}  // namespace

Result<int> QuantizeProducts(Graph& graph) {
  int count = 0;
  const NodeId end = graph.num_nodes();
  for (NodeId id = 0; id < end; ++id) {
    if (!graph.IsLive(id) || !CanBeQuantized(graph, graph.node(id))) continue;
    const Node& node = graph.node(id);
    const Scope scope = Scope(graph).Sub(node.name + "/quantized").OnDevice(node.device);
    const Quantized a = Quantize(scope, Expr(&scope, node.inputs[0]));
    const Quantized b = Quantize(scope, Expr(&scope, node.inputs[1]));
    const bool is_product = node.op_name() == "MatMul";
    const Expr sums =
        scope.Add(is_product ? "QuantizedMatMul" : "QuantizedConv2D",
                  {a.values, b.values, a.low, a.high, b.low, b.high},
                  Pick(node, {"transpose_a", "transpose_b", "strides", "padding", "dilations"}));
    TRY(scope.status());
    const Expr result =
        Op("Dequantize", sums, sums.Output(1), sums.Output(2), {{"mode", "MIN_FIRST"}});
    TRY(scope.status());
    TRY(TurnIntoIdentity(graph, id, result.ref()));
    ++count;
  }
  return count;
}

}  // namespace penstock
