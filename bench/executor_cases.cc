// What a step costs besides the arithmetic.
#include "bench/bench.h"
#include "penstock/penstock.h"

namespace penstock::bench {
namespace {

SessionOptions With(const Options& options) {
  return {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}};
}

Figure NullOps(const Options& options) {
  Graph g;
  std::vector<Operation> ends;
  for (int chain = 0; chain < 200; ++chain) {
    Operation op;
    for (int i = 0; i < 100; ++i) {
      NodeSpec spec;
      spec.op = "NoOp";
      if (i > 0) spec.control_inputs.push_back(op.node());
      op = Operation(g, OrThrow(g.AddNode(spec)));
    }
    ends.push_back(op);
  }
  const Operation all = Group(ends);
  Session session(g, With(options));
  return {20001 / MedianMs([&] { session.Run(all); }, 30, 5) / 1e3, "Mops/s"};
}

Figure ScalarChain(const Options& options) {
  Graph g;
  const auto x = Placeholder<float>(g, Shape{});
  Output<float> y = x;
  for (int i = 0; i < 1000; ++i) y = y + x;
  Session session(g, With(options));
  const auto run = session.Compile({x.ref()}, Fetch(y));
  const Array<float> one(1.f);
  return {MedianMs([&] { run(one); }, 50, 5) * 1e3 / 1000, "us/op"};
}

Figure RunLatency(const Options& options) {
  Graph g;
  const auto x = Placeholder<float>(g, Shape{});
  const auto y = x * 2.f;
  Session session(g, With(options));
  const auto run = session.Compile({x.ref()}, Fetch(y));
  const Array<float> one(1.f);
  auto thousand = [&] {
    for (int i = 0; i < 1000; ++i) run(one);
  };
  return {MedianMs(thousand, 10, 2), "us/run"};
}

// Ten nodes over a fed vector of 100 floats, through Session::Run with its signature lookup.
Figure StepsPerSecond(const Options& options) {
  Graph g;
  const auto x = Placeholder<float>(g, Shape{100});
  Output<float> y = x;
  for (int i = 0; i < 9; ++i) y = y + x;
  Session session(g, With(options));
  const Array<float> value(std::vector<float>(100, 1.f));
  auto thousand = [&] {
    for (int i = 0; i < 1000; ++i) session.Run({{x, value}}, y);
  };
  return {1e6 / MedianMs(thousand, 10, 2), "steps/s"};
}

}  // namespace

void AddExecutorCases(std::vector<Case>& cases) {
  cases.push_back({"null_ops", "200 chains of 100 no-ops, none pruned", NullOps});
  cases.push_back({"scalar_chain", "1,000 dependent scalar additions of a fed value", ScalarChain});
  cases.push_back({"run_latency", "one trivial step: feed a scalar, fetch its double", RunLatency});
  cases.push_back({"steps_per_second", "Session::Run of a 10-node graph with a 100-float feed",
                   StepsPerSecond});
}

}  // namespace penstock::bench
