// Loops made of primitives, as TensorFlow's first clients write them.
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

}  // namespace

void AddFlowCases(std::vector<Case>& cases) {
  cases.push_back({"while_v1", "a counter to 100,000, made of loop primitives", WhileV1});
}

}  // namespace penstock::bench
