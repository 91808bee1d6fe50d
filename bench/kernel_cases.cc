// What the arithmetic costs.
#include "bench/bench.h"
#include "penstock/penstock.h"

namespace penstock::bench {
namespace {

std::vector<float> Ramp(int64_t n) {
  std::vector<float> values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 1000) * 0.002f - 1.f;
  return values;
}

Figure MatMul1024(const Options& options) {
  Graph g;
  const Array<float> data(Shape{1024, 1024}, Ramp(1024 * 1024));
  Variable<float> a(g, data, "a");
  Variable<float> b(g, data, "b");
  const auto c = Sum(MatMul(a, b));
  Session session(g, {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}});
  session.Run(InitVariables(g));
  return {2.0 * 1024 * 1024 * 1024 / MedianMs([&] { session.Run(Operation(c)); }, 20, 2) / 1e6,
          "GFLOP/s"};
}

// A gelu-like chain over 16M floats: fusion and memory bandwidth.
Figure Elementwise16M(const Options& options) {
  Graph g;
  Variable<float> v(g, Array<float>(Ramp(16 << 20)), "x");
  const auto x = v.Read();
  const auto y = Identity(0.5f * x * (1.f + Tanh(0.7978845608f * (x + 0.044715f * x * x * x))));
  Session session(g, {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}});
  session.Run(InitVariables(g));
  return {MedianMs([&] { session.Run(Operation(y)); }, 5, 2), "ms"};
}

}  // namespace

void AddKernelCases(std::vector<Case>& cases) {
  cases.push_back({"matmul_1024", "the sum of a 1024x1024 matrix product", MatMul1024});
  cases.push_back({"elementwise_16M", "a gelu-like chain over 16M floats", Elementwise16M});
}

}  // namespace penstock::bench
