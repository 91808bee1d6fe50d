#include "penstock/train/nn/dropout.h"

#include "penstock/client/variable.h"
#include "penstock/train/nn/body.h"

namespace penstock::nn {
namespace {

class DropoutBody final : public Body {
 public:
  DropoutBody(float rate, DropoutOptions options, CallSite site)
      : Body("Dropout", "dropout", options.name, site), rate_(rate), options_(std::move(options)) {
    if (!(rate >= 0 && rate < 1)) Fail("the rate must be in [0, 1), got {}", rate);
  }

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const Expr& x = inputs[0];
    if (!context.training() || rate_ == 0) return x;
    const Expr drawn = context.scope().Add(
        "StatelessRandomUniform", {MaskShape(context, x), context.NextSeed(options_.seed)});
    const Expr keep = Op("GreaterEqual", drawn, context.Scalar(rate_));
    const Expr scale = Op("Cast", keep, {{"DstT", DType::kFloat}}) * (1.0 / (1.0 - rate_));
    return x * scale;
  }

 private:
  Expr MaskShape(const Context& context, const Expr& x) const {
    const Expr shape = Op("Shape", x);
    if (options_.together.empty()) return shape;
    if (!x.shape().has_rank()) context.Fail("the rank of the input must be known");
    std::vector<int64_t> ones(static_cast<size_t>(x.shape().rank()), 0);
    for (const int64_t axis : options_.together) {
      const Result<int> at = ResolveAxis(axis, x.shape().rank());
      if (!at.ok()) context.Fail("{}", at.status().message());
      ones[static_cast<size_t>(*at)] = 1;
    }
    // 1 along the axes that go together, the input's extent along the others.
    const Expr together = context.Vector(ones);
    return together + shape * (1 - together);
  }

  float rate_;
  DropoutOptions options_;
};

}  // namespace

Dropout::Dropout(float rate, DropoutOptions options, CallSite site)
    : Layer(std::make_shared<DropoutBody>(rate, std::move(options), site)) {}

}  // namespace penstock::nn
