#include "penstock/train/nn/compose.h"

#include "penstock/train/nn/body.h"

namespace penstock::nn {
namespace {

class CompositeBody : public Body {
 public:
  CompositeBody(std::string_view kind, std::vector<Layer> layers, CallSite site)
      : Body(kind, kind, "", site), layers_(std::move(layers)) {}
  bool IsTransparent() const override { return true; }
  // Each layer inside tells for itself.
  bool TakesIntegers() const override { return true; }

 protected:
  std::vector<Layer> layers_;
};

class SequentialBody final : public CompositeBody {
 public:
  using CompositeBody::CompositeBody;
  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    if (layers_.empty() && inputs[0].dtype() != DType::kFloat)
      context.Fail("expected an input of float, got {}", inputs[0].dtype());
    Expr x = inputs[0];
    for (const Layer& layer : layers_) x = context.Call(layer, {x});
    return x;
  }
};

class ResidualBody final : public CompositeBody {
 public:
  using CompositeBody::CompositeBody;
  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const Expr y = context.Call(layers_[0], inputs);
    const Expr x = layers_.size() > 1 ? context.Call(layers_[1], inputs) : inputs[0];
    if (!x.shape().IsCompatibleWith(y.shape()))
      context.Fail("cannot add {} to {}: give a shortcut that changes the shape", x.shape(),
                   y.shape());
    return x + y;
  }
};

class BranchesBody final : public CompositeBody {
 public:
  BranchesBody(std::vector<Layer> layers, CallSite site)
      : CompositeBody("Branches", std::move(layers), site) {
    if (layers_.empty()) Fail("at least one branch is needed");
  }
  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    std::vector<Expr> results;
    for (const Layer& layer : layers_) results.push_back(context.Call(layer, inputs));
    if (results.size() == 1) return results[0];
    results.push_back(context.Scalar(int32_t{-1}));
    return context.scope().Add("ConcatV2", results);
  }
};

}  // namespace

Sequential::Sequential(std::initializer_list<Layer> layers, CallSite site)
    : Sequential(std::vector<Layer>(layers), site) {}
Sequential::Sequential(std::vector<Layer> layers, CallSite site)
    : Layer(std::make_shared<SequentialBody>("Sequential", std::move(layers), site)) {}

Residual::Residual(Layer layer, CallSite site)
    : Layer(
          std::make_shared<ResidualBody>("Residual", std::vector<Layer>{std::move(layer)}, site)) {}
Residual::Residual(Layer layer, Layer shortcut, CallSite site)
    : Layer(std::make_shared<ResidualBody>(
          "Residual", std::vector<Layer>{std::move(layer), std::move(shortcut)}, site)) {}

Branches::Branches(std::initializer_list<Layer> branches, CallSite site)
    : Branches(std::vector<Layer>(branches), site) {}
Branches::Branches(std::vector<Layer> branches, CallSite site)
    : Layer(std::make_shared<BranchesBody>(std::move(branches), site)) {}

}  // namespace penstock::nn
