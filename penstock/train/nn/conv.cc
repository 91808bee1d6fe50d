#include "penstock/train/nn/conv.h"

#include "penstock/train/nn/window_attrs.h"

namespace penstock::nn {
namespace {

class ConvBody final : public Body {
 public:
  ConvBody(std::string_view kind, std::string_view base_name, int axes, int64_t filters,
           const Sizes& window, Activation activation, ConvOptions options, CallSite site)
      : Body(kind, base_name, options.name, site),
        axes_(axes),
        filters_(filters),
        window_(Expand(*this, "the window", window, axes)),
        strides_(Expand(*this, "strides", options.strides, axes)),
        dilation_(Expand(*this, "dilation", options.dilation, axes)),
        sides_(Expand(*this, options.padding, axes)),
        activation_(std::move(activation)),
        options_(std::move(options)) {
    RequirePositive("the number of filters", filters);
    RequirePositive("the number of groups", options_.groups);
    if (filters % options_.groups != 0)
      Fail("{} filters cannot be shared out to {} groups", filters, options_.groups);
    if (options_.padding.kind() == Padding::Kind::kCausal) {
      if (axes != 1) Fail("causal padding is for one axis only");
      sides_ = {{dilation_[0] * (window_[0] - 1), 0}};
    }
  }

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    Expr x = inputs[0];
    context.RequireRank(x, axes_ + 2, AxesOf(axes_));
    const int64_t channels = context.Channels(x);
    if (channels % options_.groups != 0)
      context.Fail("{} channels cannot be shared out to {} groups", channels, options_.groups);
    std::vector<int64_t> shape = window_;
    shape.insert(shape.end(), {channels / options_.groups, filters_});
    Expr kernel = context.Weight("kernel", Shape(shape), options_.kernel, {.l2 = options_.l2});
    Expr y = axes_ == 1 ? Along(context, x, kernel) : Convolve(context, x, kernel, axes_);
    if (options_.bias)
      y = Op("BiasAdd", y, context.Weight("bias", {filters_}, options_.bias_value));
    if (axes_ == 1)
      y = context.scope().Add("Squeeze", {y}, {{"squeeze_dims", std::vector<int64_t>{1}}});
    return context.Activate(activation_, y);
  }

 private:
  // One axis as two, the first of extent 1, which the bias still has.
  Expr Along(Context& context, const Expr& x, const Expr& kernel) {
    return Convolve(context, Op("ExpandDims", x, context.Scalar(int32_t{1})),
                    Op("ExpandDims", kernel, context.Scalar(int32_t{0})), 2);
  }

  Expr Convolve(Context& context, Expr x, const Expr& kernel, int axes) const {
    auto widened = [&](std::vector<int64_t> values) {
      if (values.size() < static_cast<size_t>(axes)) values.insert(values.begin(), 1);
      return WithBatchAndChannels(values);
    };
    AttrMap attrs{{"strides", widened(strides_)}, {"dilations", widened(dilation_)}};
    std::vector<Padding::Sides> sides = sides_;
    if (!sides.empty() && sides.size() < static_cast<size_t>(axes))
      sides.insert(sides.begin(), {0, 0});
    if (sides.empty()) {
      const bool same = options_.padding.kind() == Padding::Kind::kSame;
      attrs.emplace_back("padding", same ? "SAME" : "VALID");
    } else if (axes == 2) {
      attrs.emplace_back("padding", "EXPLICIT");
      attrs.emplace_back("explicit_paddings", Flat(sides));
    } else {  // Conv3D knows no explicit padding
      x = Pad(context, x, sides, 0);
      attrs.emplace_back("padding", "VALID");
    }
    return Op(axes == 2 ? "Conv2D" : "Conv3D", x, kernel, std::move(attrs));
  }

  int axes_;
  int64_t filters_;
  std::vector<int64_t> window_, strides_, dilation_;
  std::vector<Padding::Sides> sides_;
  Activation activation_;
  ConvOptions options_;
};

}  // namespace

Conv1D::Conv1D(int64_t filters, Sizes window, Activation activation, ConvOptions options,
               CallSite site)
    : Layer(std::make_shared<ConvBody>("Conv1D", "conv1d", 1, filters, window,
                                       std::move(activation), std::move(options), site)) {}
Conv2D::Conv2D(int64_t filters, Sizes window, Activation activation, ConvOptions options,
               CallSite site)
    : Layer(std::make_shared<ConvBody>("Conv2D", "conv2d", 2, filters, window,
                                       std::move(activation), std::move(options), site)) {}
Conv3D::Conv3D(int64_t filters, Sizes window, Activation activation, ConvOptions options,
               CallSite site)
    : Layer(std::make_shared<ConvBody>("Conv3D", "conv3d", 3, filters, window,
                                       std::move(activation), std::move(options), site)) {}

}  // namespace penstock::nn
