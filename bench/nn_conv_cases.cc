// What convolutions cost: forward and both gradients, channels last, padded to the input's size.
#include "bench/bench.h"
#include "penstock/penstock.h"

namespace penstock::bench {
namespace {

struct Layer {
  const char* name;
  int64_t batch, extent, in, out, filter;
};
constexpr Layer kLayers[] = {{"conv_alex2", 16, 27, 64, 192, 5},
                             {"conv_vgg3", 16, 56, 128, 256, 3},
                             {"conv_incep1x1", 16, 28, 256, 64, 1},
                             {"conv_res3", 16, 14, 256, 256, 3}};

std::vector<float> Noise(int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state >> 8) / (1 << 23) - 1;
  }
  return values;
}

Output<float> Read(Graph& g, const char* name, const std::vector<int64_t>& dims) {
  const Shape shape(dims);
  return Variable<float>(g, Array<float>(shape, Noise(shape.num_elements())), name).Read();
}

OutputRef Add(Graph& g, const char* op, std::vector<OutputRef> inputs) {
  NodeSpec spec;
  spec.op = op;
  spec.inputs = std::move(inputs);
  SetAttr(spec.attrs, "strides", std::vector<int64_t>{1, 1, 1, 1});
  SetAttr(spec.attrs, "padding", "SAME");
  return {OrThrow(g.AddNode(spec)), 0};
}

Figure TrainLayer(const Layer& layer, const Options& options) {
  Graph g;
  const std::vector<int64_t> in = {layer.batch, layer.extent, layer.extent, layer.in};
  const std::vector<int64_t> filter = {layer.filter, layer.filter, layer.in, layer.out};
  const auto x = Read(g, "x", in).ref(), w = Read(g, "w", filter).ref();
  const auto dy = Read(g, "dy", {layer.batch, layer.extent, layer.extent, layer.out}).ref();
  auto sizes = [&](const std::vector<int64_t>& dims) {
    return Constant(g, Array<int32_t>(std::vector<int32_t>(dims.begin(), dims.end()))).ref();
  };
  NodeSpec all;
  all.op = "NoOp";
  all.control_inputs = {Add(g, "Conv2D", {x, w}).node,
                        Add(g, "Conv2DBackpropInput", {sizes(in), w, dy}).node,
                        Add(g, "Conv2DBackpropFilter", {x, sizes(filter), dy}).node};
  const Operation step(g, OrThrow(g.AddNode(all)));
  Session session(g, {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}});
  session.Run(InitVariables(g));
  return {MedianMs([&] { session.Run(step); }, 5, 2), "ms"};
}

}  // namespace

void AddConvCases(std::vector<Case>& cases) {
  for (const Layer& layer : kLayers) {
    cases.push_back({layer.name, "a convolution and both of its gradients",
                     [&layer](const Options& options) { return TrainLayer(layer, options); }});
  }
}

}  // namespace penstock::bench
