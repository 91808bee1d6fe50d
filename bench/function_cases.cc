// What calls of functions and their loops cost.
#include "bench/bench.h"
#include "penstock/penstock.h"

namespace penstock::bench {
namespace {

SessionOptions With(const Options& options) {
  return {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}};
}

Figure FunctionCall(const Options& options) {
  Graph g;
  Variable<float> x(g, Array<float>(1.f), "x");
  Function next([](Output<float> v) { return v + 1.f; }, {.name = "next", .noinline = true});
  Output<float> y = x.Read();
  for (int i = 0; i < 1000; ++i) y = next(y);
  Session session(g, With(options));
  session.Run(InitVariables(g));
  const Operation last = y;
  return {MedianMs([&] { session.Run(last); }, 30, 5), "us/call"};
}

Figure WhileV2(const Options& options) {
  constexpr int32_t kCount = 100'000;
  Graph g;
  const auto counted = While([=](Output<int32_t> i) { return i < kCount; },
                             [](Output<int32_t> i) { return i + 1; }, Constant<int32_t>(g, 0));
  Session session(g, With(options));
  const Operation loop = counted;
  return {MedianMs([&] { session.Run(loop); }, 5, 1) * 1e3 / kCount, "us/iteration"};
}

}  // namespace

void AddFunctionCases(std::vector<Case>& cases) {
  cases.push_back({"function_call", "1,000 dependent calls of x + 1, not inlined", FunctionCall});
  cases.push_back({"while_v2", "a counter to 100,000 in a While of functions", WhileV2});
}

}  // namespace penstock::bench
