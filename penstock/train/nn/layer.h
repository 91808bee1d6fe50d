#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/client/output.h"
#include "penstock/graph/call_site.h"

// Layers: functions over outputs that own variables.
//
//   nn::Sequential model{nn::Dense{128, Relu}, nn::Dropout{0.5f}, nn::Dense{10}};
//   auto logits = model(images, nn::Mode::kTrain);
//   auto guess = model(images);  // the same weights, nothing dropped

namespace penstock::nn {

// Layers such as Dropout and BatchNorm do something else while a model is trained.
enum class Mode { kInfer, kTrain };

// What is applied to the result of a layer: Relu, Tanh, or a lambda from Output<float> to
// Output<float>. Empty: nothing.
using Activation = std::function<Output<float>(Output<float>)>;

class Body;

// A handle to a layer: copies share variables. The first call in a graph makes them there, named
// after the layer as Keras does ("dense/kernel", then "dense_1/kernel"; with the prefix of the
// BuildScope at hand); later calls use them again. A call inside of a function, branch or loop
// needs one outside before it. Threads: as the graph.
class Layer {
 public:
  // A function is a layer without variables.
  template <class F>
  requires(!std::derived_from<std::remove_cvref_t<F>, Layer> &&
           std::is_invocable_r_v<Output<float>, F&, Output<float>>) Layer(F function)
      : Layer(Activation(std::move(function)), FromFunction{}) {}
  // One that also wants to know the mode.
  template <class F>
  requires(!std::derived_from<std::remove_cvref_t<F>, Layer> &&
           std::is_invocable_r_v<Output<float>, F&, Output<float>, Mode>) Layer(F function)
      : Layer(std::function<Output<float>(Output<float>, Mode)>(std::move(function)),
              FromFunction{}) {}
  explicit Layer(std::shared_ptr<Body> body) : body_(std::move(body)) {}

  // Throws an Error that names the layer, the line that made it and the line of the call when the
  // input does not fit.
  Output<float> operator()(const Output<float>& x, Mode mode = Mode::kInfer,
                           CallSite site = CallSite::Here()) const;

  const std::shared_ptr<Body>& body() const { return body_; }

 protected:
  // For layers that begin with indices.
  Output<float> Call(Graph& graph, const std::vector<OutputRef>& inputs, Mode mode,
                     CallSite site) const;

 private:
  struct FromFunction {};
  Layer(Activation function, FromFunction);
  Layer(std::function<Output<float>(Output<float>, Mode)> function, FromFunction);

  std::shared_ptr<Body> body_;
};

// While it lives, variables and random masks of layers that this thread builds are drawn from
// `seed` instead of 0. Each also depends on the variable's name, so that no two are alike.
class SeedScope {
 public:
  explicit SeedScope(uint64_t seed);
  ~SeedScope();
  SeedScope(const SeedScope&) = delete;
  SeedScope& operator=(const SeedScope&) = delete;
  // The innermost one's, or 0.
  static uint64_t Current();

 private:
  uint64_t outer_;
};

}  // namespace penstock::nn
