#include "penstock/train/nn/pool.h"

#include <limits>

#include "penstock/train/nn/window_attrs.h"

namespace penstock::nn {
namespace {

enum class Pooling { kMax, kMean };

std::string KindOf(Pooling pooling, int axes) {
  return (pooling == Pooling::kMax ? "MaxPool" : "AvgPool") + std::to_string(axes) + "D";
}
std::string BaseNameOf(Pooling pooling, int axes) {
  return (pooling == Pooling::kMax ? "max_pooling" : "average_pooling") + std::to_string(axes) +
         "d";
}

class PoolBody final : public Body {
 public:
  PoolBody(Pooling pooling, int axes, const Sizes& window, const PoolOptions& options,
           CallSite site)
      : Body(KindOf(pooling, axes), BaseNameOf(pooling, axes), options.name, site),
        pooling_(pooling),
        axes_(axes),
        window_(Expand(*this, "the window", window, axes)),
        strides_(options.strides.values().empty()
                     ? window_
                     : Expand(*this, "strides", options.strides, axes)),
        sides_(Expand(*this, options.padding, axes)),
        same_(options.padding.kind() == Padding::Kind::kSame) {
    if (options.padding.kind() == Padding::Kind::kCausal)
      Fail("there is no causal padding of pools");
  }

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    Expr x = inputs[0];
    context.RequireRank(x, axes_ + 2, AxesOf(axes_));
    if (axes_ > 1) return Pool(context, x, window_, strides_, sides_);
    // One axis as two, the first of extent 1.
    std::vector<Padding::Sides> sides = sides_;
    if (!sides.empty()) sides.insert(sides.begin(), {0, 0});
    x = Op("ExpandDims", x, context.Scalar(int32_t{1}));
    x = Pool(context, x, {1, window_[0]}, {1, strides_[0]}, sides);
    return context.scope().Add("Squeeze", {x}, {{"squeeze_dims", std::vector<int64_t>{1}}});
  }

 private:
  Expr Pool(const Context& context, Expr x, const std::vector<int64_t>& window,
            const std::vector<int64_t>& strides, const std::vector<Padding::Sides>& sides) const {
    const bool is_max = pooling_ == Pooling::kMax;
    AttrMap attrs{{"ksize", WithBatchAndChannels(window)},
                  {"strides", WithBatchAndChannels(strides)}};
    if (sides.empty()) {
      attrs.emplace_back("padding", same_ ? "SAME" : "VALID");
    } else if (is_max && axes_ < 3) {
      attrs.emplace_back("padding", "EXPLICIT");
      attrs.emplace_back("explicit_paddings", Flat(sides));
    } else {  // the other ops know no explicit padding
      x = Pad(context, x, sides, is_max ? -std::numeric_limits<float>::infinity() : 0);
      attrs.emplace_back("padding", "VALID");
    }
    const std::string op = is_max ? "MaxPool" : "AvgPool";
    return Op(axes_ == 3 ? op + "3D" : op, x, std::move(attrs));
  }

  Pooling pooling_;
  int axes_;
  std::vector<int64_t> window_, strides_;
  std::vector<Padding::Sides> sides_;
  bool same_;
};

class GlobalPoolBody final : public Body {
 public:
  GlobalPoolBody(Pooling pooling, CallSite site)
      : Body(pooling == Pooling::kMax ? "GlobalMaxPool" : "GlobalAvgPool",
             pooling == Pooling::kMax ? "global_max_pooling" : "global_average_pooling", "", site),
        op_(pooling == Pooling::kMax ? "Max" : "Mean") {}

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const Shape& shape = inputs[0].shape();
    if (!shape.has_rank() || shape.rank() < 3)
      context.Fail("expected an input of shape [batch, axes..., channels], got {}", shape);
    std::vector<int64_t> axes;
    for (int i = 1; i + 1 < shape.rank(); ++i) axes.push_back(i);
    return Op(op_, inputs[0], context.Vector(axes), {{"keep_dims", false}});
  }

 private:
  std::string op_;
};

std::shared_ptr<Body> Make(Pooling pooling, int axes, const Sizes& window,
                           const PoolOptions& options, CallSite site) {
  return std::make_shared<PoolBody>(pooling, axes, window, options, site);
}

}  // namespace

MaxPool1D::MaxPool1D(Sizes window, PoolOptions options, CallSite site)
    : Layer(Make(Pooling::kMax, 1, window, options, site)) {}
MaxPool2D::MaxPool2D(Sizes window, PoolOptions options, CallSite site)
    : Layer(Make(Pooling::kMax, 2, window, options, site)) {}
MaxPool3D::MaxPool3D(Sizes window, PoolOptions options, CallSite site)
    : Layer(Make(Pooling::kMax, 3, window, options, site)) {}
AvgPool1D::AvgPool1D(Sizes window, PoolOptions options, CallSite site)
    : Layer(Make(Pooling::kMean, 1, window, options, site)) {}
AvgPool2D::AvgPool2D(Sizes window, PoolOptions options, CallSite site)
    : Layer(Make(Pooling::kMean, 2, window, options, site)) {}
AvgPool3D::AvgPool3D(Sizes window, PoolOptions options, CallSite site)
    : Layer(Make(Pooling::kMean, 3, window, options, site)) {}

GlobalMaxPool::GlobalMaxPool(CallSite site)
    : Layer(std::make_shared<GlobalPoolBody>(Pooling::kMax, site)) {}
GlobalAvgPool::GlobalAvgPool(CallSite site)
    : Layer(std::make_shared<GlobalPoolBody>(Pooling::kMean, site)) {}

}  // namespace penstock::nn
