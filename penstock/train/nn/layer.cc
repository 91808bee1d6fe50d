#include "penstock/train/nn/layer.h"

#include "penstock/train/nn/body.h"

namespace penstock::nn {
namespace {

thread_local uint64_t current_seed = 0;

class FunctionBody final : public Body {
 public:
  using Fn = std::function<Output<float>(Output<float>, Mode)>;
  explicit FunctionBody(Fn function)
      : Body("function", "function", "", CallSite{}), function_(std::move(function)) {}

  // It has no variables, so it needs no name of its own.
  bool IsTransparent() const override { return true; }
  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    return context.From(function_(context.AsOutput(inputs[0]), context.mode()));
  }

 private:
  Fn function_;
};

}  // namespace

SeedScope::SeedScope(uint64_t seed) : outer_(current_seed) { current_seed = seed; }
SeedScope::~SeedScope() { current_seed = outer_; }
uint64_t SeedScope::Current() { return current_seed; }

Layer::Layer(Activation function, FromFunction)
    : body_(std::make_shared<FunctionBody>(
          [function = std::move(function)](Output<float> x, Mode) { return function(x); })) {}

Layer::Layer(std::function<Output<float>(Output<float>, Mode)> function, FromFunction)
    : body_(std::make_shared<FunctionBody>(std::move(function))) {}

Output<float> Layer::operator()(const Output<float>& x, Mode mode, CallSite site) const {
  return Call(x.graph(), {x.ref()}, mode, site);
}

Output<float> Layer::Call(Graph& graph, const std::vector<OutputRef>& inputs, Mode mode,
                          CallSite site) const {
  return Output<float>(graph, RunBody(*body_, graph, inputs, mode, site, /*nested=*/false)[0]);
}

}  // namespace penstock::nn
