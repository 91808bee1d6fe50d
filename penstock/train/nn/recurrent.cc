#include "penstock/train/nn/recurrent.h"

#include "penstock/train/nn/recurrent_body.h"

namespace penstock::nn {
namespace {

// [a, b, ...] to [b, a, ...].
Expr SwapFirstAxes(const Context& context, const Expr& x) {
  return Op("Transpose", x, context.Vector({1, 0, 2}));
}

// True at [t, b] where t < lengths[b]: [T, B].
Expr Within(const Context& context, const Expr& x, const Expr& lengths) {
  const Expr time = context.scope().Add(
      "StridedSlice",
      {Op("Shape", x), context.Vector({0}), context.Vector({1}), context.Vector({1})},
      {{"shrink_axis_mask", 1}});
  const Expr times =
      context.scope().Add("Range", {context.Scalar(int32_t{0}), time, context.Scalar(int32_t{1})});
  return Op("Less", context.Reshape(times, {-1, 1}), lengths);
}

class BidirectionalBody final : public Body {
 public:
  BidirectionalBody(const RecurrentBody& layer, Merge merge, CallSite site)
      : Body("Bidirectional", "bidirectional", "", site),
        forward_(Side(layer, "forward_", layer.options().reversed)),
        backward_(Side(layer, "backward_", !layer.options().reversed)),
        merge_(merge) {}

  bool TakesIntegers() const override { return true; }
  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const Expr there = context.Call(forward_, inputs);
    const Expr back = context.Call(backward_, inputs);
    if (merge_ == Merge::kSum) return there + back;
    return context.scope().Add("ConcatV2", {there, back, context.Scalar(int32_t{-1})});
  }

 private:
  static Layer Side(const RecurrentBody& layer, const std::string& prefix, bool reversed) {
    RecurrentOptions options = layer.options();
    options.name = prefix + layer.base_name();
    options.reversed = reversed;
    return Layer(layer.Copy(std::move(options)));
  }

  Layer forward_, backward_;
  Merge merge_;
};

}  // namespace

RecurrentBody::RecurrentBody(std::string_view kind, std::string_view base_name, int64_t units,
                             RecurrentOptions options, CallSite site)
    : Body(kind, base_name, options.name, site), units_(units), options_(std::move(options)) {
  RequirePositive("the number of units", units);
}

void RecurrentBody::CheckInputs(const Context& context, const std::vector<Expr>& inputs) const {
  const Expr& x = inputs[0];
  if (x.dtype() != DType::kFloat) context.Fail("expected an input of float, got {}", x.dtype());
  context.RequireRank(x, 3,
                      options_.time_major ? "[time, batch, features]" : "[batch, time, features]");
  if (inputs.size() > 1 && inputs[1].valid() && !Shape{-1}.IsCompatibleWith(inputs[1].shape()))
    context.Fail("expected lengths of shape [batch], got {}", inputs[1].shape());
  const size_t states = inputs.size() > 2 ? inputs.size() - 2 : 0;
  if (states != 0 && states != static_cast<size_t>(num_states()))
    context.Fail("expected {} states, got {}", num_states(), states);
  for (size_t i = 2; i < inputs.size(); ++i) {
    if (!Shape({-1, units_}).IsCompatibleWith(inputs[i].shape()))
      context.Fail("expected a state of shape [batch,{}], got {}", units_, inputs[i].shape());
  }
}

Expr RecurrentBody::Apply(Context& context, const std::vector<Expr>& inputs) {
  CheckInputs(context, inputs);
  const Expr lengths = inputs.size() > 1 ? inputs[1] : Expr();
  Expr x = options_.time_major ? inputs[0] : SwapFirstAxes(context, inputs[0]);
  if (options_.reversed) x = Reverse(context, x, lengths);
  const std::vector<Expr> first = FirstStates(context, x, inputs);
  const std::vector<Expr> steps = Step(context, x, first);
  context.Check();
  Expr last;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Expr state = LastOf(context, steps[i], lengths, first[i]);
    if (i == 0) last = state;
    context.AddResult(state);
  }
  if (!options_.sequences) return last;
  Expr output = steps[0];
  if (lengths.valid()) {
    const Expr within = Op("ExpandDims", Within(context, output, lengths), context.Scalar(-1));
    output = Op("SelectV2", within, output, context.Scalar(0.f));
  }
  if (options_.reversed) output = Reverse(context, output, lengths);
  return options_.time_major ? output : SwapFirstAxes(context, output);
}

std::vector<Expr> RecurrentBody::FirstStates(Context& context, const Expr& x,
                                             const std::vector<Expr>& inputs) const {
  if (inputs.size() > 2) return {inputs.begin() + 2, inputs.end()};
  const Expr batch =
      context.scope().Add("Slice", {Op("Shape", x), context.Vector({1}), context.Vector({1})});
  const Expr shape = context.scope().Add(
      "ConcatV2", {batch, context.Vector({units_}), context.Scalar(int32_t{0})});
  const Expr zeros =
      context.WithShape(Op("Fill", shape, context.Scalar(0.f)), Shape{x.shape()[1], units_});
  return std::vector<Expr>(static_cast<size_t>(num_states()), zeros);
}

Expr RecurrentBody::Reverse(const Context& context, const Expr& x, const Expr& lengths) const {
  if (!lengths.valid()) return Op("ReverseV2", x, context.Vector({0}));
  return Op("ReverseSequence", x, lengths, {{"seq_dim", 0}, {"batch_dim", 1}});
}

Expr RecurrentBody::LastOf(const Context& context, const Expr& steps, const Expr& lengths,
                           const Expr& first) const {
  if (!lengths.valid()) {
    return context.scope().Add(
        "StridedSlice", {steps, context.Vector({-1}), context.Vector({0}), context.Vector({1})},
        {{"shrink_axis_mask", 1}, {"end_mask", 1}});
  }
  // [lengths[b] - 1, b] for each b; an entry without steps stays where it began.
  const Expr places = context.scope().Add(
      "Range", {context.Scalar(int32_t{0}), Op("Size", lengths), context.Scalar(int32_t{1})});
  const Expr zero = context.Scalar(int32_t{0});
  const Expr at = Op("Maximum", lengths - 1.0, zero);
  const Expr indices = context.scope().Add("Pack", {at, places}, {{"axis", 1}});
  const Expr found = Op("GatherNd", steps, indices);
  const Expr any = Op("ExpandDims", Op("Greater", lengths, zero), context.Scalar(-1));
  return Op("SelectV2", any, found, first);
}

Recurrent::Steps Recurrent::Run(const Output<float>& x, const Start& start, Mode mode,
                                CallSite site) const {
  std::vector<OutputRef> inputs{x.ref(), start.lengths.ref()};
  for (const Output<float>& state : start.state) inputs.push_back(state.ref());
  const std::vector<OutputRef> results =
      RunBody(*body(), x.graph(), inputs, mode, site, /*nested=*/false);
  Steps steps{.output = {x.graph(), results[0]}, .state = {}};
  for (size_t i = 1; i < results.size(); ++i) steps.state.emplace_back(x.graph(), results[i]);
  return steps;
}

Bidirectional::Bidirectional(const Recurrent& layer, Merge merge, CallSite site)
    : Layer(std::make_shared<BidirectionalBody>(static_cast<const RecurrentBody&>(*layer.body()),
                                                merge, site)) {}

Output<float> Bidirectional::Run(const Output<float>& x, const Output<int32_t>& lengths, Mode mode,
                                 CallSite site) const {
  return Call(x.graph(), {x.ref(), lengths.ref()}, mode, site);
}

}  // namespace penstock::nn
