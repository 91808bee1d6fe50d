#include "penstock/train/nn/activations.h"
#include "penstock/train/nn/attention.h"
#include "penstock/train/nn/body.h"
#include "penstock/train/nn/dense.h"
#include "penstock/train/nn/dropout.h"
#include "penstock/train/nn/norm.h"

namespace penstock::nn {
namespace {

class TransformerBody final : public Body {
 public:
  TransformerBody(int64_t heads, int64_t feed_forward, TransformerOptions options, CallSite site)
      : Body("TransformerBlock", "transformer_block", options.name, site),
        heads_(heads),
        options_(std::move(options)),
        attention_norm_({.epsilon = options_.epsilon}, site),
        dense_norm_({.epsilon = options_.epsilon}, site),
        widen_(feed_forward, options_.activation ? options_.activation : Activation(Gelu), {},
               site),
        attention_dropout_(options_.dropout, {}, site),
        dense_dropout_(options_.dropout, {}, site) {
    RequirePositive("the number of heads", heads);
  }

  bool TakesIntegers() const override { return true; }  // the mask

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    Expr x = inputs[0];
    const Expr mask = inputs.size() > 1 ? inputs[1] : Expr();
    if (x.dtype() != DType::kFloat) context.Fail("expected an input of float, got {}", x.dtype());
    context.RequireRank(x, 3, "[batch, time, features]");
    MakeLayers(context, context.Channels(x));
    x = Around(context, attention_norm_, x, [&](const Expr& v) {
      return context.Call(attention_dropout_,
                          {context.Call(layers_[0], {v, Expr(), Expr(), mask})});
    });
    return Around(context, dense_norm_, x, [&](const Expr& v) {
      return context.Call(dense_dropout_, {context.Call(layers_[1], {context.Call(widen_, {v})})});
    });
  }

 private:
  // The layers that need to know the number of features, at the first call.
  void MakeLayers(const Context& context, int64_t features) {
    if (features % heads_ != 0)
      context.Fail("{} features cannot be shared out to {} heads", features, heads_);
    if (!layers_.empty()) return;
    layers_.push_back(
        MultiHeadAttention(heads_, features / heads_, {.causal = options_.causal}, made()));
    layers_.push_back(Dense(features, {}, {}, made()));
  }

  // x + part(norm(x)), or norm(x + part(x)).
  template <class Part>
  Expr Around(const Context& context, const Layer& norm, const Expr& x, Part part) const {
    if (options_.norm_first) return x + part(context.Call(norm, {x}));
    return context.Call(norm, {x + part(x)});
  }

  int64_t heads_;
  TransformerOptions options_;
  LayerNorm attention_norm_, dense_norm_;
  Dense widen_;
  Dropout attention_dropout_, dense_dropout_;
  std::vector<Layer> layers_;  // attention, the second dense layer
};

}  // namespace

TransformerBlock::TransformerBlock(int64_t heads, int64_t feed_forward, TransformerOptions options,
                                   CallSite site)
    : Layer(std::make_shared<TransformerBody>(heads, feed_forward, std::move(options), site)) {}

Output<float> TransformerBlock::operator()(const Output<float>& x, const Output<bool>& is_there,
                                           Mode mode, CallSite site) const {
  return Call(x.graph(), {x.ref(), is_there.ref()}, mode, site);
}

}  // namespace penstock::nn
