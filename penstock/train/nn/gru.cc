#include "penstock/client/tracing.h"
#include "penstock/train/nn/recurrent_body.h"

namespace penstock::nn {
namespace {

// A sequence of known length up to this is written out step by step: no loop to run, and the steps
// are fused and planned as any other nodes. A longer one would make the graph slow to compile.
constexpr int64_t kMaxUnrolled = 24;

// The weights that each step needs. z is the update gate, r the reset gate.
struct GruWeights {
  Expr kernel;  // [U, 3 U]
  Expr bias;    // [3 U]
};

// One step, from [B, 3 U] of the inputs' part and the [B, U] state:
//   z, r = sigmoid(x + h W), c = tanh(x + r (h W)), h = z h + (1 - z) c.
Expr StepOnce(const Scope& scope, const Expr& x, const Expr& h, const GruWeights& weights) {
  const Expr product = Op("BiasAdd", Op("MatMul", h, weights.kernel), weights.bias);
  const Expr axis = scope.Constant(Tensor::Scalar<int32_t>(1));
  const Expr in = scope.Add("Split", {axis, x}, {{"num_split", 3}});
  const Expr from_h = scope.Add("Split", {axis, product}, {{"num_split", 3}});
  if (!from_h.valid()) return {};
  const Expr z = Op("Sigmoid", in + from_h);
  const Expr r = Op("Sigmoid", in.Output(1) + from_h.Output(1));
  const Expr c = Op("Tanh", in.Output(2) + r * from_h.Output(2));
  return z * (h - c) + c;
}

class GruBody final : public RecurrentBody {
 public:
  GruBody(int64_t units, RecurrentOptions options, CallSite site)
      : RecurrentBody("GRU", "gru", units, std::move(options), site) {}

  std::shared_ptr<RecurrentBody> Copy(RecurrentOptions options) const override {
    return std::make_shared<GruBody>(units(), std::move(options), made());
  }

 protected:
  int num_states() const override { return 1; }

  std::vector<Expr> Step(Context& context, const Expr& x,
                         const std::vector<Expr>& states) override {
    const int64_t features = context.Channels(x), U = units();
    const WeightOptions decay{.l2 = options().l2};
    const Expr kernel =
        context.Weight("gru_cell/kernel", {features, 3 * U}, options().kernel, decay);
    const Expr recurrent =
        context.Weight("gru_cell/recurrent_kernel", {U, 3 * U}, options().recurrent_kernel, decay);
    const Expr biases = context.scope().Add(
        "Unpack", {context.Weight("gru_cell/bias", {2, 3 * U}, Zeros())}, {{"num", 2}});
    context.Check();
    // The inputs' part of all steps in one product.
    const Expr rows =
        Op("BiasAdd", Op("MatMul", context.Reshape(x, {-1, features}), kernel), biases);
    const Expr batch =
        context.scope().Add("Slice", {Op("Shape", x), context.Vector({0}), context.Vector({2})});
    const Expr shape = context.scope().Add(
        "ConcatV2", {batch, context.Vector({3 * U}), context.Scalar(int32_t{0})});
    const Expr in =
        context.WithShape(Op("Reshape", rows, shape), Shape{x.shape()[0], x.shape()[1], 3 * U});
    const GruWeights weights{recurrent, biases.Output(1)};
    const int64_t time = x.shape()[0];
    const bool unrolls = time > 0 && time <= kMaxUnrolled;
    return {unrolls ? Unroll(context, in, states[0], weights)
                    : Loop(context, in, states[0], weights)};
  }

 private:
  static Expr Unroll(const Context& context, const Expr& in, Expr h, const GruWeights& weights) {
    const int64_t time = in.shape()[0];
    const Expr steps = context.scope().Add("Unpack", {in}, {{"num", time}});
    context.Check();
    std::vector<Expr> all;
    for (int t = 0; t < time; ++t)
      all.push_back(h = StepOnce(context.scope(), steps.Output(t), h, weights));
    return context.scope().Add("Pack", all);
  }

  // A While over the steps. The inputs' part lies in a list in reverse order, from whose end each
  // round takes one: its derivative then only appends, whereas one by index would add up lists.
  Expr Loop(const Context& context, const Expr& in, const Expr& first,
            const GruWeights& weights) const {
    using client_internal::Returned;
    const Scope& scope = context.scope();
    const Shape row{in.shape()[1], 3 * units()};
    const Expr any = context.Scalar(-1);
    const Expr list =
        scope.Add("TensorListFromTensor", {Op("ReverseV2", in, context.Vector({0})), any});
    const Expr none = scope.Add("TensorListReserve", {any, context.Scalar(int32_t{0})},
                                {{"element_dtype", DType::kFloat}, {"shape_type", DType::kInt32}});
    const Expr length = Op("TensorListLength", list);
    context.Check();
    Graph& graph = context.graph();
    const CallSite site = context.site();
    const auto cond = [&](const std::vector<OutputRef>& args) {
      const Scope inner = BuildScope::Current(graph, site);
      const Expr go = inner.Add("Less", {Expr(&inner, args[0]), Expr(&inner, length.ref())});
      OrThrow(inner.status(), site);
      return Returned{.outputs = {go.ref()}, .effects = {}};
    };
    const auto body = [&](const std::vector<OutputRef>& args) {
      const Scope inner = BuildScope::Current(graph, site);
      auto at = [&](OutputRef ref) { return Expr(&inner, ref); };
      const Expr taken = inner.Add("TensorListPopBack", {at(args[2]), at(any.ref())},
                                   {{"element_dtype", DType::kFloat}});
      OrThrow(inner.status(), site);
      const Expr x = context.WithShape(taken.Output(1), row);
      const Expr h = StepOnce(inner, at(x.ref()), at(args[1]),
                              {at(weights.kernel.ref()), at(weights.bias.ref())});
      const Expr made = inner.Add("TensorListPushBack", {at(args[3]), h});
      const Expr next = at(args[0]) + 1.0;
      OrThrow(inner.status(), site);
      return Returned{.outputs = {next.ref(), h.ref(), taken.ref(), made.ref()}, .effects = {}};
    };
    const Expr zero = context.Scalar(int32_t{0});
    const NodeId loop = client_internal::AddWhile(
        graph, {zero.ref(), first.ref(), list.ref(), none.ref()}, cond, body, site);
    const Expr stacked = scope.Add("TensorListStack", {Expr(&scope, {loop, 3}), Op("Shape", first)},
                                   {{"element_dtype", DType::kFloat}});
    return context.WithShape(stacked, Shape{in.shape()[0], in.shape()[1], units()});
  }
};

}  // namespace

GRU::GRU(int64_t units, RecurrentOptions options, CallSite site)
    : Recurrent(std::make_shared<GruBody>(units, std::move(options), site)) {}

}  // namespace penstock::nn
