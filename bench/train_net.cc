#include "bench/train_net.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "penstock/client/constant.h"

namespace penstock::bench {
namespace {

std::vector<int64_t> Windows(int64_t extent) { return {1, extent, extent, 1}; }

}  // namespace

TrainNet::TrainNet() : scope_(graph_) {}

Expr TrainNet::Integers(const std::vector<int64_t>& values, DType dtype) const {
  Tensor tensor(dtype, Shape{static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::kInt64) {
      tensor.mutable_data<int64_t>()[i] = values[i];
    } else {
      tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    }
  }
  return scope_.Constant(tensor);
}

Expr TrainNet::Integer(int64_t value) const {
  Tensor tensor(DType::kInt32, Shape{});
  *tensor.mutable_data<int32_t>() = static_cast<int32_t>(value);
  return scope_.Constant(tensor);
}

Expr TrainNet::Normal(const Shape& shape, float deviation) const {
  const Expr extents = Integers({shape.dims().begin(), shape.dims().end()});
  if (deviation == 0) {
    const Expr zero = scope_.Constant(Array<float>(0.f).tensor());
    return scope_.Add("Fill", {extents, zero});
  }
  return scope_.Add("RandomStandardNormal", {extents}, {{"dtype", DType::kFloat}, {"seed", 1}}) *
         deviation;
}

TrainNet::Weights TrainNet::Parameter(std::string_view name, const Shape& shape, float deviation) {
  const Output<float> initial(graph_, Normal(shape, deviation).ref());
  if (!scope_.status().ok()) throw Error(scope_.status());
  const Variable<float> variable(graph_, initial, name);
  parameters_.push_back(variable.handle());
  return {variable.handle(), Expr(&scope_, variable.Read().ref())};
}

Expr TrainNet::Input(const Shape& shape) {
  const Output<float> initial(graph_, Normal(shape, 1).ref());
  return Expr(&scope_, Variable<float>::NotTrainable(graph_, initial, "input").Read().ref());
}

Expr TrainNet::Labels(int64_t batch, int64_t classes) const {
  std::vector<int64_t> labels(static_cast<size_t>(batch));
  for (int64_t i = 0; i < batch; ++i) labels[static_cast<size_t>(i)] = i % classes;
  return Integers(labels, DType::kInt64);
}

Expr TrainNet::Conv(Expr x, int64_t size, int64_t channels, int64_t stride,
                    std::string_view padding) {
  const std::string name = "conv" + std::to_string(++num_layers_);
  const int64_t in = x.shape().dim(3);
  const float deviation = std::sqrt(2.f / static_cast<float>(size * size * in));
  const Expr filter = Parameter(name + "/kernel", {size, size, in, channels}, deviation).value;
  const Expr bias = Parameter(name + "/bias", {channels}, 0).value;
  const Expr product =
      Op("Conv2D", x, filter, {{"strides", Windows(stride)}, {"padding", std::string(padding)}});
  return Op("Relu", Op("BiasAdd", product, bias));
}

Expr TrainNet::PaddedConv(Expr x, int64_t size, int64_t channels, int64_t stride, int64_t zeros) {
  Tensor paddings(DType::kInt32, Shape{4, 2});
  const int32_t z = static_cast<int32_t>(zeros), sides[] = {0, 0, z, z, z, z, 0, 0};
  std::copy(std::begin(sides), std::end(sides), paddings.mutable_data<int32_t>());
  return Conv(Op("Pad", x, scope_.Constant(paddings)), size, channels, stride, "VALID");
}

Expr TrainNet::MaxPool(Expr x, int64_t size, int64_t stride, std::string_view padding) const {
  return Op(
      "MaxPool", x,
      {{"ksize", Windows(size)}, {"strides", Windows(stride)}, {"padding", std::string(padding)}});
}

Expr TrainNet::Dense(Expr x, int64_t units, bool relu) {
  const std::string name = "dense" + std::to_string(++num_layers_);
  const int64_t in = x.shape().dim(1);
  const float deviation = std::sqrt(2.f / static_cast<float>(in));
  const Expr kernel = Parameter(name + "/kernel", {in, units}, deviation).value;
  const Expr bias = Parameter(name + "/bias", {units}, 0).value;
  const Expr y = Op("BiasAdd", Op("MatMul", x, kernel), bias);
  return relu ? Op("Relu", y) : y;
}

Expr TrainNet::Flat(Expr x) const { return Op("Reshape", x, Integers({x.shape().dim(0), -1})); }

Expr TrainNet::MeanLoss(Expr logits, Expr labels) const {
  return Op("Mean", Op("SparseSoftmaxCrossEntropyWithLogits", logits, labels), Integers({0}));
}

NodeId TrainNet::Descend(NodeId handle, const GradientValue& gradient, Expr rate, Expr momentum) {
  const Expr variable(&scope_, {handle, 0});
  const Expr slope(&scope_, gradient.dense);
  if (momentum.valid()) {
    const Shape shape = slope.shape();
    const Output<float> zeros(graph_, Normal(shape, 0).ref());
    const auto slot =
        Variable<float>::NotTrainable(graph_, zeros, graph_.node(handle).name + "/Momentum");
    const Expr slot_handle(&scope_, {slot.handle(), 0});
    return scope_.Add("ResourceApplyMomentum", {variable, slot_handle, rate, slope, momentum})
        .ref()
        .node;
  }
  if (gradient.has_rows()) {
    const Expr rows(&scope_, gradient.values);
    return scope_
        .Add("ResourceScatterSub", {variable, Expr(&scope_, gradient.indices), rows * rate})
        .ref()
        .node;
  }
  return scope_.Add("ResourceApplyGradientDescent", {variable, rate, slope}).ref().node;
}

Operation TrainNet::Train(Expr loss, float rate, float momentum) {
  std::vector<OutputRef> handles;
  for (const NodeId parameter : parameters_) handles.push_back({parameter, 0});
  const auto gradients = OrThrow(AddSparseGradients(scope_, {.ys = {loss.ref()}, .xs = handles}));
  const Expr step_size = scope_.Constant(Array<float>(rate).tensor());
  const Expr kept = momentum == 0 ? Expr() : scope_.Constant(Array<float>(momentum).tensor());
  std::vector<Operation> updates;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    updates.emplace_back(graph_, Descend(parameters_[i], gradients[i], step_size, kept));
  }
  if (!scope_.status().ok()) throw Error(scope_.status());
  return Group(updates);
}

double StepMs(TrainNet& net, const Operation& step, const Options& options, int steps) {
  Session session(net.graph(),
                  {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}});
  session.Run(InitVariables(net.graph()));
  const double ms = MedianMs([&] { session.Run(step); }, steps, 3);
  if (!options.trace.empty()) {
    RunMetadata metadata;
    session.Run({}, {}, {step.name()}, {.trace = true}, &metadata);
    std::ofstream(options.trace) << metadata.chrome_trace;
  }
  return ms;
}

}  // namespace penstock::bench
