#include "penstock/train/nn/body.h"
#include "penstock/train/nn/norm.h"

namespace penstock::nn {
namespace {

// Gamma and beta of [channels]; not given ones are ones and zeros.
struct Affine {
  Expr gamma, beta;
};
Affine AffineOf(Context& context, int64_t channels, bool scale, bool center) {
  auto filled = [&](float value) {
    return context.scope().Add("Fill", {context.Vector({channels}), context.Scalar(value)});
  };
  return {scale ? context.Weight("gamma", {channels}, Ones()) : filled(1),
          center ? context.Weight("beta", {channels}, Zeros()) : filled(0)};
}

Expr MeanOver(const Context& context, const Expr& x, const std::vector<int64_t>& axes) {
  return Op("Mean", x, context.Vector(axes), {{"keep_dims", true}});
}

class LayerNormBody final : public Body {
 public:
  LayerNormBody(LayerNormOptions options, CallSite site)
      : Body("LayerNorm", "layer_normalization", options.name, site), options_(std::move(options)) {
    if (!(options_.epsilon > 0)) Fail("epsilon must be positive, got {}", options_.epsilon);
  }

  // In the form that compile/layer_norm.cc turns into one node.
  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const Expr& x = inputs[0];
    context.RequireRank(x, 0, "[batch..., channels]");
    const Affine affine = AffineOf(context, context.Channels(x), options_.scale, options_.center);
    const Expr mean = MeanOver(context, x, {-1});
    const Expr variance = MeanOver(context, Op("SquaredDifference", x, mean), {-1});
    const Expr scale = Op("Rsqrt", variance + options_.epsilon) * affine.gamma;
    return x * scale + (affine.beta - mean * scale);
  }

 private:
  LayerNormOptions options_;
};

class GroupNormBody final : public Body {
 public:
  GroupNormBody(int64_t groups, GroupNormOptions options, CallSite site)
      : Body("GroupNorm", "group_normalization", options.name, site),
        groups_(groups),
        options_(std::move(options)) {
    RequirePositive("the number of groups", groups);
    if (!(options_.epsilon > 0)) Fail("epsilon must be positive, got {}", options_.epsilon);
  }

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const Expr& x = inputs[0];
    if (!x.shape().has_rank() || x.shape().rank() < 2)
      context.Fail("expected an input of shape [batch, axes..., channels], got {}", x.shape());
    const int64_t channels = context.Channels(x);
    if (channels % groups_ != 0)
      context.Fail("{} channels cannot be shared out to {} groups", channels, groups_);
    const Affine affine = AffineOf(context, channels, options_.scale, options_.center);
    const Expr rows = InGroups(context, x, channels / groups_);
    const Expr mean = MeanOver(context, rows, {1, 3});
    const Expr variance = MeanOver(context, Op("SquaredDifference", rows, mean), {1, 3});
    const Expr unit = (rows - mean) * Op("Rsqrt", variance + options_.epsilon);
    const Expr back = context.WithShape(Op("Reshape", unit, Op("Shape", x)), x.shape());
    return back * affine.gamma + affine.beta;
  }

 private:
  // [batch, places, groups, channels of a group].
  Expr InGroups(const Context& context, const Expr& x, int64_t size) const {
    const int64_t batch = x.shape()[0];
    if (batch >= 0) return context.Reshape(x, {batch, -1, groups_, size});
    const Expr first =
        context.scope().Add("Slice", {Op("Shape", x), context.Vector({0}), context.Vector({1})});
    const Expr shape = context.scope().Add(
        "ConcatV2", {first, context.Vector({-1, groups_, size}), context.Scalar(int32_t{0})});
    return context.WithShape(Op("Reshape", x, shape), Shape{-1, -1, groups_, size});
  }

  int64_t groups_;
  GroupNormOptions options_;
};

class LocalResponseNormBody final : public Body {
 public:
  LocalResponseNormBody(LocalResponseNormOptions options, CallSite site)
      : Body("LocalResponseNorm", "local_response_normalization", "", site), options_(options) {
    if (options_.radius < 0) Fail("the radius must not be negative, got {}", options_.radius);
  }

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    context.RequireRank(inputs[0], 4, "[batch, height, width, channels]");
    return Op("LRN", inputs[0],
              {{"depth_radius", options_.radius},
               {"bias", options_.bias},
               {"alpha", options_.alpha},
               {"beta", options_.beta}});
  }

 private:
  LocalResponseNormOptions options_;
};

}  // namespace

LayerNorm::LayerNorm(LayerNormOptions options, CallSite site)
    : Layer(std::make_shared<LayerNormBody>(std::move(options), site)) {}
GroupNorm::GroupNorm(int64_t groups, GroupNormOptions options, CallSite site)
    : Layer(std::make_shared<GroupNormBody>(groups, std::move(options), site)) {}
LocalResponseNorm::LocalResponseNorm(LocalResponseNormOptions options, CallSite site)
    : Layer(std::make_shared<LocalResponseNormBody>(options, site)) {}

}  // namespace penstock::nn
