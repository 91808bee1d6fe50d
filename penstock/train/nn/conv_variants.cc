#include "penstock/train/nn/conv_variants.h"

#include "penstock/train/nn/window_attrs.h"

namespace penstock::nn {
namespace {

// What the three have in common: windows over two axes, a bias, an activation.
class Conv2DBody : public Body {
 public:
  Conv2DBody(std::string_view kind, std::string_view base_name, const Sizes& window,
             Activation activation, ConvOptions options, CallSite site)
      : Body(kind, base_name, options.name, site),
        window_(Expand(*this, "the window", window, 2)),
        strides_(Expand(*this, "strides", options.strides, 2)),
        dilation_(Expand(*this, "dilation", options.dilation, 2)),
        sides_(Expand(*this, options.padding, 2)),
        activation_(std::move(activation)),
        options_(std::move(options)) {
    if (options_.groups != 1) Fail("there are no groups here, got {}", options_.groups);
    if (options_.padding.kind() == Padding::Kind::kCausal)
      Fail("causal padding is for one axis only");
  }

 protected:
  int64_t ImageChannels(const Context& context, const Expr& x) const {
    context.RequireRank(x, 4, AxesOf(2));
    return context.Channels(x);
  }
  AttrMap Attrs() const {
    AttrMap attrs{{"strides", WithBatchAndChannels(strides_)},
                  {"dilations", WithBatchAndChannels(dilation_)}};
    if (!sides_.empty()) {
      attrs.emplace_back("padding", "EXPLICIT");
      attrs.emplace_back("explicit_paddings", Flat(sides_));
    } else {
      attrs.emplace_back("padding", is_same() ? "SAME" : "VALID");
    }
    return attrs;
  }
  bool is_same() const { return options_.padding.kind() == Padding::Kind::kSame; }
  Expr Kernel(Context& context, std::string_view name, int64_t in, int64_t out) const {
    return context.Weight(name, {window_[0], window_[1], in, out}, options_.kernel,
                          {.l2 = options_.l2});
  }
  Expr Finish(Context& context, Expr y, int64_t channels) const {
    if (options_.bias)
      y = Op("BiasAdd", y, context.Weight("bias", {channels}, options_.bias_value));
    return context.Activate(activation_, y);
  }

  std::vector<int64_t> window_, strides_, dilation_;
  std::vector<Padding::Sides> sides_;
  Activation activation_;
  ConvOptions options_;
};

class DepthwiseBody final : public Conv2DBody {
 public:
  DepthwiseBody(const Sizes& window, Activation activation, ConvOptions options, int64_t multiplier,
                CallSite site)
      : Conv2DBody("DepthwiseConv2D", "depthwise_conv2d", window, std::move(activation),
                   std::move(options), site),
        multiplier_(multiplier) {
    RequirePositive("the multiplier", multiplier);
  }
  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const int64_t channels = ImageChannels(context, inputs[0]);
    const Expr kernel = Kernel(context, "depthwise_kernel", channels, multiplier_);
    const Expr y = Op("DepthwiseConv2dNative", inputs[0], kernel, Attrs());
    return Finish(context, y, channels * multiplier_);
  }

 private:
  int64_t multiplier_;
};

class SeparableBody final : public Conv2DBody {
 public:
  SeparableBody(int64_t filters, const Sizes& window, Activation activation, ConvOptions options,
                int64_t multiplier, CallSite site)
      : Conv2DBody("SeparableConv2D", "separable_conv2d", window, std::move(activation),
                   std::move(options), site),
        filters_(filters),
        multiplier_(multiplier) {
    RequirePositive("the number of filters", filters);
    RequirePositive("the multiplier", multiplier);
  }
  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const int64_t channels = ImageChannels(context, inputs[0]);
    const Expr places = Kernel(context, "depthwise_kernel", channels, multiplier_);
    const Expr mix = context.Weight("pointwise_kernel", {1, 1, channels * multiplier_, filters_},
                                    options_.kernel, {.l2 = options_.l2});
    const Expr y = Op("DepthwiseConv2dNative", inputs[0], places, Attrs());
    const std::vector<int64_t> ones(4, 1);
    return Finish(context, Op("Conv2D", y, mix, {{"strides", ones}, {"padding", "VALID"}}),
                  filters_);
  }

 private:
  int64_t filters_, multiplier_;
};

class TransposeBody final : public Conv2DBody {
 public:
  TransposeBody(int64_t filters, const Sizes& window, Activation activation, ConvOptions options,
                CallSite site)
      : Conv2DBody("Conv2DTranspose", "conv2d_transpose", window, std::move(activation),
                   std::move(options), site),
        filters_(filters) {
    RequirePositive("the number of filters", filters);
    if (!sides_.empty()) Fail("there is no explicit padding here");
  }

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const Expr& x = inputs[0];
    const int64_t channels = ImageChannels(context, x);
    const Expr kernel = Kernel(context, "kernel", filters_, channels);
    const Expr dims = context.scope().Add("Unpack", {Op("Shape", x)}, {{"num", 4}});
    context.Check();
    std::vector<Expr> sizes{dims};
    Shape known{x.shape()[0]};
    for (int axis = 0; axis < 2; ++axis) {
      const int64_t in = x.shape()[axis + 1];
      known.Append(in < 0 ? -1 : in * strides_[Index(axis)] + Beyond(axis));
      sizes.push_back(in < 0 ? dims.Output(axis + 1) * double(strides_[Index(axis)]) +
                                   double(Beyond(axis))
                             : context.Scalar(static_cast<int32_t>(known[axis + 1])));
    }
    known.Append(filters_);
    sizes.push_back(context.Scalar(static_cast<int32_t>(filters_)));
    const Expr y =
        Op("Conv2DBackpropInput", context.scope().Add("Pack", sizes), kernel, x, Attrs());
    return Finish(context, context.WithShape(y, known), filters_);
  }

 private:
  static size_t Index(int axis) { return static_cast<size_t>(axis); }
  // What the last window reaches past the strides.
  int64_t Beyond(int axis) const {
    if (is_same()) return 0;
    const int64_t reach = dilation_[Index(axis)] * (window_[Index(axis)] - 1) + 1;
    return std::max<int64_t>(reach - strides_[Index(axis)], 0);
  }

  int64_t filters_;
};

}  // namespace

DepthwiseConv2D::DepthwiseConv2D(Sizes window, Activation activation, ConvOptions options,
                                 int64_t multiplier, CallSite site)
    : Layer(std::make_shared<DepthwiseBody>(window, std::move(activation), std::move(options),
                                            multiplier, site)) {}
SeparableConv2D::SeparableConv2D(int64_t filters, Sizes window, Activation activation,
                                 ConvOptions options, int64_t multiplier, CallSite site)
    : Layer(std::make_shared<SeparableBody>(filters, window, std::move(activation),
                                            std::move(options), multiplier, site)) {}
Conv2DTranspose::Conv2DTranspose(int64_t filters, Sizes window, Activation activation,
                                 ConvOptions options, CallSite site)
    : Layer(std::make_shared<TransposeBody>(filters, window, std::move(activation),
                                            std::move(options), site)) {}

}  // namespace penstock::nn
