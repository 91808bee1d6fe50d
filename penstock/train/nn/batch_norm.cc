#include "penstock/client/variable.h"
#include "penstock/train/nn/body.h"
#include "penstock/train/nn/norm.h"
#include "penstock/train/parameters.h"

namespace penstock::nn {
namespace {

class BatchNormBody final : public Body {
 public:
  BatchNormBody(BatchNormOptions options, CallSite site)
      : Body("BatchNorm", "batch_normalization", options.name, site), options_(std::move(options)) {
    if (!(options_.momentum >= 0 && options_.momentum <= 1))
      Fail("the momentum must be in [0, 1], got {}", options_.momentum);
    if (!(options_.epsilon > 0)) Fail("epsilon must be positive, got {}", options_.epsilon);
  }

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const Expr& x = inputs[0];
    context.RequireRank(x, 0, "[batch..., channels]");
    const int64_t channels = context.Channels(x);
    const Shape shape{channels};
    const Expr gamma = options_.scale ? context.Weight("gamma", shape, options_.gamma)
                                      : Filled(context, channels, 1);
    const Expr beta = options_.center ? context.Weight("beta", shape, options_.beta)
                                      : Filled(context, channels, 0);
    const WeightOptions state{.trainable = false};
    const NodeId mean = context.Handle("moving_mean", shape, Zeros(), state);
    const NodeId variance = context.Handle("moving_variance", shape, Ones(), state);
    const bool is_image = x.shape().rank() == 4;
    const Expr flat = is_image ? x : context.Reshape(x, {-1, 1, 1, channels});
    Expr y = context.training() ? Train(context, flat, gamma, beta, mean, variance)
                                : Infer(context, flat, gamma, beta, mean, variance);
    return is_image ? y : LikeInput(context, y, x);
  }

 private:
  AttrMap Attrs(bool training) const {
    return {{"epsilon", options_.epsilon}, {"is_training", training}};
  }

  Expr Train(Context& context, const Expr& x, const Expr& gamma, const Expr& beta, NodeId mean,
             NodeId variance) const {
    // In training the op takes no averages in.
    const Expr none = context.scope().Constant(Tensor(DType::kFloat, Shape{0}));
    const Expr y = context.scope().Add("FusedBatchNormV3", {x, gamma, beta, none, none},
                                       Attrs(/*training=*/true));
    context.Check();
    Move(context, mean, y.Output(1));
    Move(context, variance, y.Output(2));
    return y;
  }

  Expr Infer(Context& context, const Expr& x, const Expr& gamma, const Expr& beta, NodeId mean,
             NodeId variance) const {
    return context.scope().Add("FusedBatchNormV3",
                               {x, gamma, beta, context.Read(mean), context.Read(variance)},
                               Attrs(/*training=*/false));
  }

  // moving -= (moving - batch) * (1 - momentum)
  void Move(Context& context, NodeId moving, const Expr& batch) const {
    const Expr step = (context.Read(moving) - batch) * (1.0 - options_.momentum);
    context.Check();
    const auto variable = Variable<float>::Of(context.graph(), moving, context.site());
    AddUpdate(variable.AssignSub(context.AsOutput(step), context.site()));
  }

  static Expr Filled(const Context& context, int64_t channels, float value) {
    return context.scope().Add("Fill", {context.Vector({channels}), context.Scalar(value)});
  }

  static Expr LikeInput(const Context& context, const Expr& y, const Expr& x) {
    return context.WithShape(Op("Reshape", y, Op("Shape", x)), x.shape());
  }

  BatchNormOptions options_;
};

}  // namespace

BatchNorm::BatchNorm(BatchNormOptions options, CallSite site)
    : Layer(std::make_shared<BatchNormBody>(std::move(options), site)) {}

}  // namespace penstock::nn
