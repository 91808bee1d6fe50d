// What random numbers cost.
#include "bench/bench.h"
#include "penstock/penstock.h"

namespace penstock::bench {
namespace {

// The nodes that tf.random.normal makes: numbers, times the deviation, plus the mean.
Figure RandomNormal16M(const Options& options) {
  constexpr int32_t kElements = 16 << 20;
  Graph g;
  NodeSpec spec;
  spec.op = "RandomStandardNormal";
  spec.inputs = {Constant(g, Array<int32_t>(std::vector<int32_t>{kElements})).ref()};
  spec.attrs = {{"dtype", DType::kFloat}};
  const Output<float> numbers(g, OutputRef{OrThrow(g.AddNode(spec)), 0});
  const Output<float> normal = numbers * Constant<float>(g, 1.f) + Constant<float>(g, 0.f);
  const Operation run(g, normal.ref().node);
  Session session(g, {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}});
  return {MedianMs([&] { session.Run(run); }, 20, 3), "ms"};
}

}  // namespace

void AddRandomCases(std::vector<Case>& cases) {
  cases.push_back({"random_normal_16M", "16M normal floats", RandomNormal16M});
}

}  // namespace penstock::bench
