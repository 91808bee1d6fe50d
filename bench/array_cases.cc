// What moving elements about costs.
#include <random>

#include "bench/bench.h"
#include "penstock/penstock.h"

namespace penstock::bench {
namespace {

SessionOptions With(const Options& options) {
  return {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}};
}

// A variable of numbers between 0 and 1 in no order.
Variable<float> Random(Graph& g, int64_t rows, int64_t columns) {
  std::vector<float> values(static_cast<size_t>(rows * columns));
  std::mt19937 random(0);
  for (float& value : values) value = static_cast<float>(random()) / 0x1p32f;
  return Variable<float>(g, Array<float>(Shape{rows, columns}, values), "x");
}

// 10,000 random rows of 64 floats out of a table of 1M rows.
Figure Gather10k(const Options& options) {
  constexpr int64_t kRows = 1 << 20, kColumns = 64, kPicked = 10'000;
  Graph g;
  Variable<float> table(g, Constant<float>(g, Shape{kRows, kColumns}, 1.f), "x");
  std::mt19937 random(0);
  std::vector<int64_t> rows(kPicked);
  for (int64_t& row : rows) row = static_cast<int64_t>(random() % kRows);
  NodeSpec spec;
  spec.op = "ResourceGather";
  spec.inputs = {{table.handle(), 0}, Constant(g, Array<int64_t>(rows)).ref()};
  spec.attrs = {{"dtype", DType::kFloat}};
  const Operation gather(g, OrThrow(g.AddNode(spec)));
  Session session(g, With(options));
  session.Run(InitVariables(g));
  return {MedianMs([&] { session.Run(gather); }, 50, 5) * 1e3, "us"};
}

Figure TopK1000x10000(const Options& options) {
  Graph g;
  Variable<float> x = Random(g, 1000, 10'000);
  NodeSpec spec;
  spec.op = "TopKV2";
  spec.inputs = {x.Read().ref(), Constant<int32_t>(g, 10).ref()};
  const Operation top(g, OrThrow(g.AddNode(spec)));
  Session session(g, With(options));
  session.Run(InitVariables(g));
  return {MedianMs([&] { session.Run(top); }, 10, 2), "ms"};
}

Figure Transpose4096(const Options& options) {
  Graph g;
  Variable<float> x = Random(g, 4096, 4096);
  NodeSpec spec;
  spec.op = "Transpose";
  spec.inputs = {x.Read().ref(), Constant(g, Array<int32_t>(std::vector<int32_t>{1, 0})).ref()};
  const Operation transpose(g, OrThrow(g.AddNode(spec)));
  Session session(g, With(options));
  session.Run(InitVariables(g));
  return {MedianMs([&] { session.Run(transpose); }, 10, 2), "ms"};
}

}  // namespace

void AddArrayCases(std::vector<Case>& cases) {
  cases.push_back(
      {"gather_10k", "10,000 random rows of 64 floats out of a table of 1M rows", Gather10k});
  cases.push_back({"top_k_1000x10000", "the 10 largest of each of 1,000 rows", TopK1000x10000});
  cases.push_back({"transpose_4096", "a matrix of 4096 by 4096 floats, transposed", Transpose4096});
}

}  // namespace penstock::bench
