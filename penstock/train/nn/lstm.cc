#include <algorithm>

#include "penstock/client/constant.h"
#include "penstock/train/nn/recurrent_body.h"

namespace penstock::nn {
namespace {

// Zeros, with ones for the forget gate: a memory that keeps at first learns faster.
Initializer ForgetNothing() {
  return [](const InitialRequest& request) {
    Array<float> value(request.shape,
                       std::vector<float>(static_cast<size_t>(request.shape.num_elements()), 0));
    Tensor bias = value.tensor();
    const int64_t units = request.shape[0] / 4;
    std::fill_n(bias.mutable_data<float>() + units, units, 1.f);
    return Constant(request.graph, value);
  };
}

class LstmBody final : public RecurrentBody {
 public:
  LstmBody(int64_t units, RecurrentOptions options, CallSite site)
      : RecurrentBody("LSTM", "lstm", units, std::move(options), site) {}

  std::shared_ptr<RecurrentBody> Copy(RecurrentOptions options) const override {
    return std::make_shared<LstmBody>(units(), std::move(options), made());
  }

 protected:
  int num_states() const override { return 2; }

  // One op for all steps.
  std::vector<Expr> Step(Context& context, const Expr& x,
                         const std::vector<Expr>& states) override {
    const Scope& scope = context.scope();
    const int64_t features = context.Channels(x), U = units();
    const WeightOptions decay{.l2 = options().l2};
    const Expr kernel =
        context.Weight("lstm_cell/kernel", {features, 4 * U}, options().kernel, decay);
    const Expr recurrent =
        context.Weight("lstm_cell/recurrent_kernel", {U, 4 * U}, options().recurrent_kernel, decay);
    const Expr bias = context.Weight("lstm_cell/bias", {4 * U}, ForgetNothing());
    const Expr joined = scope.Add("ConcatV2", {kernel, recurrent, context.Scalar(int32_t{0})});
    const Expr no_peephole = scope.Add("Fill", {context.Vector({U}), context.Scalar(0.f)});
    const Expr time = scope.Add("StridedSlice",
                                {Op("Shape", x, {{"out_type", DType::kInt64}}), context.Vector({0}),
                                 context.Vector({1}), context.Vector({1})},
                                {{"shrink_axis_mask", 1}});
    const Expr steps = scope.Add("BlockLSTMV2", {time, x, states[1], states[0], joined, no_peephole,
                                                 no_peephole, no_peephole, bias});
    return {steps.Output(6), steps.Output(1)};
  }
};

}  // namespace

LSTM::LSTM(int64_t units, RecurrentOptions options, CallSite site)
    : Recurrent(std::make_shared<LstmBody>(units, std::move(options), site)) {}

}  // namespace penstock::nn
