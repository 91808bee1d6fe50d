// What updating variables costs.
#include <random>

#include "bench/bench.h"
#include "penstock/penstock.h"

namespace penstock::bench {
namespace {

SessionOptions With(const Options& options) {
  return {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}};
}

Figure AssignAdd64MB(const Options& options) {
  constexpr int64_t kElements = 16 << 20;
  Graph g;
  Variable<float> v(g, Constant<float>(g, Shape{kElements}, 1.f), "v");
  Variable<float> d(g, Constant<float>(g, Shape{kElements}, 0.5f), "d");
  const Operation add = v.AssignAdd(d.Read());
  Session session(g, With(options));
  session.Run(InitVariables(g));
  return {MedianMs([&] { session.Run(add); }, 20, 3), "ms"};
}

// 10,000 random rows of 64 floats into a table of 1M rows.
Figure ScatterAdd10k(const Options& options) {
  constexpr int64_t kRows = 1 << 20, kColumns = 64, kUpdates = 10'000;
  Graph g;
  Variable<float> v(g, Constant<float>(g, Shape{kRows, kColumns}, 1.f), "v");
  Variable<float> updates(g, Constant<float>(g, Shape{kUpdates, kColumns}, 0.5f), "g");
  std::mt19937 random(0);
  std::vector<int64_t> rows(kUpdates);
  for (int64_t& row : rows) row = static_cast<int64_t>(random() % kRows);
  NodeSpec spec;
  spec.op = "ResourceScatterAdd";
  spec.inputs = {{v.handle(), 0}, Constant(g, Array<int64_t>(rows)).ref(), updates.Read().ref()};
  const Operation scatter(g, OrThrow(g.AddNode(spec)));
  Session session(g, With(options));
  session.Run(InitVariables(g));
  return {MedianMs([&] { session.Run(scatter); }, 50, 5) * 1e3, "us"};
}

}  // namespace

void AddStateCases(std::vector<Case>& cases) {
  cases.push_back({"assign_add_64MB", "add a variable of 16M floats to another", AssignAdd64MB});
  cases.push_back({"scatter_add_10k", "add 10,000 random rows of 64 floats to a table of 1M rows",
                   ScatterAdd10k});
}

}  // namespace penstock::bench
