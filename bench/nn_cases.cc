// What the layers of networks cost besides products and convolutions.
#include <random>

#include "bench/bench.h"
#include "penstock/penstock.h"

namespace penstock::bench {
namespace {

// A graph of op nodes over variables that hold normal numbers.
class Layers {
 public:
  explicit Layers(const Options& options) : options_(options) {}

  OutputRef Random(const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(shape.num_elements()));
    for (float& value : values) value = normal_(random_);
    variables_.push_back(std::make_unique<Variable<float>>(
        g_, Array<float>(shape, values), "v" + std::to_string(variables_.size())));
    return variables_.back()->Read().ref();
  }
  OutputRef Axes(std::vector<int32_t> axes) { return Constant(g_, Array<int32_t>(axes)).ref(); }
  OutputRef Scalar(float value) { return Constant<float>(g_, value).ref(); }
  NodeId Add(std::string op, std::vector<OutputRef> inputs, AttrMap attrs = {}) {
    NodeSpec spec;
    spec.op = std::move(op);
    spec.inputs = std::move(inputs);
    spec.attrs = std::move(attrs);
    return OrThrow(g_.AddNode(spec));
  }
  Figure Time(NodeId node) {
    const Operation step(g_, node);
    Session session(g_, {.threads = options_.threads, .memory_limit = 0, .disabled_passes = {}});
    session.Run(InitVariables(g_));
    return {MedianMs([&] { session.Run(step); }, 10, 3), "ms"};
  }

 private:
  const Options options_;
  std::mt19937 random_{0};
  std::normal_distribution<float> normal_;
  Graph g_;
  std::vector<std::unique_ptr<Variable<float>>> variables_;
};

Figure Softmax4096x1000(const Options& options) {
  Layers net(options);
  return net.Time(net.Add("Softmax", {net.Random({4096, 1000})}));
}

// Moments, and a normalisation with them, as stock programs write it.
Figure LayerNorm4096x1024(const Options& options) {
  Layers net(options);
  const AttrMap keep{{"keep_dims", true}};
  const OutputRef x = net.Random({4096, 1024}), axes = net.Axes({1});
  const OutputRef beta = net.Random({1024}), gamma = net.Random({1024});
  const OutputRef mean{net.Add("Mean", {x, axes}, keep), 0};
  const OutputRef squares{net.Add("SquaredDifference", {x, {net.Add("StopGradient", {mean}), 0}}),
                          0};
  const OutputRef variance{net.Add("Mean", {squares, axes}, keep), 0};
  const OutputRef inverse{net.Add("Rsqrt", {{net.Add("AddV2", {variance, net.Scalar(1e-5f)}), 0}}),
                          0};
  const OutputRef scale{net.Add("Mul", {inverse, gamma}), 0};
  const OutputRef scaled{net.Add("Mul", {x, scale}), 0};
  const OutputRef shift{net.Add("Sub", {beta, {net.Add("Mul", {mean, scale}), 0}}), 0};
  return net.Time(net.Add("AddV2", {scaled, shift}));
}

// In training: the normalisation and its derivative.
Figure BatchNorm16x56x56x128(const Options& options) {
  Layers net(options);
  const OutputRef x = net.Random({16, 56, 56, 128}), scale = net.Random({128});
  const OutputRef empty = net.Random({0});
  const NodeId norm = net.Add("FusedBatchNormV3", {x, scale, net.Random({128}), empty, empty},
                              {{"epsilon", 1e-3f}});
  return net.Time(
      net.Add("FusedBatchNormGradV3",
              {net.Random({16, 56, 56, 128}), x, scale, {norm, 3}, {norm, 4}, {norm, 5}},
              {{"epsilon", 1e-3f}}));
}

// 3x3 windows in steps of 2: the pooling and its derivative.
Figure MaxPool16x112x112x64(const Options& options) {
  Layers net(options);
  const AttrMap windows{{"ksize", std::vector<int64_t>{1, 3, 3, 1}},
                        {"strides", std::vector<int64_t>{1, 2, 2, 1}},
                        {"padding", "SAME"}};
  const OutputRef x = net.Random({16, 112, 112, 64});
  const OutputRef y{net.Add("MaxPool", {x}, windows), 0};
  const OutputRef dy{net.Add("OnesLike", {y}), 0};
  return net.Time(net.Add("MaxPoolGrad", {x, y, dy}, windows));
}

Figure Reduce4096(const Options& options, int32_t axis) {
  Layers net(options);
  return net.Time(net.Add("Sum", {net.Random({4096, 4096}), net.Axes({axis})}));
}

}  // namespace

void AddNnCases(std::vector<Case>& cases) {
  cases.push_back({"softmax_4096x1000", "softmax of 4096 rows of 1000 logits", Softmax4096x1000});
  cases.push_back(
      {"layer_norm_4096x1024", "layer normalisation of 4096 rows of 1024", LayerNorm4096x1024});
  cases.push_back({"batch_norm_16x56x56x128", "batch normalisation in training, and its gradient",
                   BatchNorm16x56x56x128});
  cases.push_back({"max_pool_16x112x112x64", "3x3 max pooling with stride 2, and its gradient",
                   MaxPool16x112x112x64});
  cases.push_back({"reduce_rows_4096", "sums of the rows of a 4096x4096 matrix",
                   [](const Options& options) { return Reduce4096(options, 1); }});
  cases.push_back({"reduce_cols_4096", "sums of the columns of a 4096x4096 matrix",
                   [](const Options& options) { return Reduce4096(options, 0); }});
}

}  // namespace penstock::bench
