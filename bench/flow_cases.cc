// Loops, by primitives and by functions.
#include <random>

#include "bench/bench.h"
#include "penstock/graph/text_graph.h"
#include "penstock/penstock.h"

namespace penstock::bench {
namespace {

constexpr int kIterations = 100'000;

// tf.while_loop(lambda i: i < 100000, lambda i: i + 1, [0]) without control flow v2.
constexpr std::string_view kCounter = R"(
    zero = Const(value=int32 0)
    enter = Enter(zero, frame_name="while")
    i = Merge(enter, next)
    n = Const(^i, value=int32 100000)
    less = Less(i, n)
    go = LoopCond(less)
    both = Switch(i, go)
    body = Identity(both:1)
    one = Const(^body, value=int32 1)
    sum = AddV2(body, one)
    next = NextIteration(sum)
    exit = Exit(both:0)
)";

Figure WhileV1(const Options& options) {
  Graph g;
  OrThrow(AddTextGraph(kCounter, &g));
  const Operation exit(g, g.FindNode("exit"));
  Session session(g, {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}});
  return {MedianMs([&] { session.Run(exit); }, 5, 1) * 1e3 / kIterations, "us/iteration"};
}

// 128 steps of an LSTM over a batch of 16, 128 units, as a While over typed outputs.
Figure LstmLoop(const Options& options) {
  constexpr int32_t kSteps = 128, kBatch = 16, kHidden = 128;
  Graph g;
  std::mt19937 random(1);
  auto variable = [&](const Shape& shape, float range) {
    std::vector<float> values(static_cast<size_t>(shape.num_elements()));
    std::uniform_real_distribution<float> uniform(-range, range);
    for (float& value : values) value = range == 0 ? 0.f : uniform(random);
    return Variable<float>(g, Array<float>(shape, values));
  };
  const auto inputs = variable(Shape{kSteps, kBatch, kHidden}, 1.f).Read();
  const auto weights = variable(Shape{2 * kHidden, 4 * kHidden}, 0.1f).Read();
  const auto bias = variable(Shape{4 * kHidden}, 0.f).Read();
  const auto zero =
      Constant(g, Array<float>(Shape{kBatch, kHidden}, std::vector<float>(kBatch * kHidden, 0.f)));
  auto go_on = [&](Output<int32_t> t, Output<float>, Output<float>) { return t < kSteps; };
  auto step = [&](Output<int32_t> t, Output<float> c, Output<float> h) {
    const auto x = Gather(inputs, t);
    const auto gates = Split(MatMul(Concat<float>({x, h}, 1), weights) + bias, 4, 1);
    const auto cell = c * Sigmoid(gates[2] + 1.f) + Sigmoid(gates[0]) * Tanh(gates[1]);
    return std::tuple(t + 1, cell, Output<float>(Tanh(cell) * Sigmoid(gates[3])));
  };
  const auto [t, c, h] = While(
      go_on, step, std::tuple(Constant<int32_t>(g, 0), Output<float>(zero), Output<float>(zero)));
  Session session(g, {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}});
  session.Run(InitVariables(g));
  const auto result = h;
  return {MedianMs([&] { session.Run(result); }, 30, 5), "ms"};
}

}  // namespace

void AddFlowCases(std::vector<Case>& cases) {
  cases.push_back({"while_v1", "a counter to 100,000, made of loop primitives", WhileV1});
  cases.push_back({"lstm_loop", "a loop of 128 LSTM steps, batch 16, 128 units", LstmLoop});
}

}  // namespace penstock::bench
