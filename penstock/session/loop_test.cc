#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "penstock/device/device.h"
#include "penstock/graph/scope.h"
#include "penstock/session/session.h"

namespace penstock {
namespace {

// i = 0; while (i < n) ++i, as a graph of primitives.
struct Counter {
  Graph graph;
  OutputRef n, out;

  explicit Counter(int64_t parallel_iterations = 10) {
    const Scope scope(graph);
    const Expr limit =
        scope.Add("Placeholder", {}, {{"dtype", DType::kInt64}, {"shape", Shape{}}}, "n");
    auto enter = [&](const Expr& value, bool is_constant) {
      return scope.Add("Enter", {value},
                       {{"frame_name", std::string("counting")},
                        {"is_constant", is_constant},
                        {"parallel_iterations", parallel_iterations}});
    };
    auto number = [&](int64_t value) {
      return scope.Add("Const", {}, {{"value", Tensor::Scalar(value)}, {"dtype", DType::kInt64}});
    };
    const Expr first = enter(number(0), false);
    const Expr bound = enter(limit, true);
    const Expr one = enter(number(1), true);
    Result<NodeId> merge =
        graph.AddNode({.op = "Merge", .name = "i", .inputs = {first.ref(), OutputRef()}});
    EXPECT_TRUE(merge.ok()) << merge.status().ToString();
    const Expr i = Expr(&scope, {*merge, 0});
    const Expr go = scope.Add("LoopCond", {scope.Add("Less", {i, bound}, {})}, {});
    const Expr both = scope.Add("Switch", {i, go}, {});
    const Expr next = scope.Add(
        "NextIteration",
        {scope.Add("AddV2", {Expr(&scope, {both.ref().node, 1}), one}, {}, "increment")}, {});
    EXPECT_TRUE(scope.status().ok()) << scope.status().ToString();
    EXPECT_TRUE(graph.SetInput(*merge, 1, next.ref()).ok());
    out = scope.Add("Exit", {both}, {}).ref();
    n = limit.ref();
  }
};

int64_t ResidentKilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  }
  return 0;
}

Result<std::vector<Tensor>> Count(SessionBackend& session, const Counter& counter, int64_t n,
                                  const RunOptions& options = {}) {
  const Tensor limit = Tensor::Scalar(n);
  return session.Run({{counter.n}, {counter.out}, {}}, {&limit, 1}, options, nullptr);
}

#ifdef PENSTOCK_SANITIZED
constexpr int64_t kManyIterations = 100'000;
#else
constexpr int64_t kManyIterations = 10'000'000;
#endif

TEST(Loop, TenMillionIterationsRunInFlatMemory) {
  const Counter counter;
  const auto session = MakeLocalSession(counter.graph);
  ASSERT_TRUE(Count(*session, counter, 1000).ok());
  const int64_t before = ResidentKilobytes();
  const auto result = Count(*session, counter, kManyIterations);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ((*result)[0].scalar<int64_t>(), kManyIterations);
#ifndef PENSTOCK_SANITIZED  // which keeps memory that was freed
  EXPECT_LT(ResidentKilobytes() - before, 4096);
#endif
}

TEST(Loop, ADeadlineEndsALoopWithoutEndAndNamesIt) {
  const Counter counter;
  const auto session = MakeLocalSession(counter.graph);
  RunOptions options;
  options.timeout = std::chrono::milliseconds(50);
  const Status status =
      Count(*session, counter, std::numeric_limits<int64_t>::max(), options).status();
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded) << status.ToString();
  EXPECT_NE(status.message().find("of the loop 'counting'"), std::string::npos)
      << status.ToString();
  // Afterwards the session works.
  const auto result = Count(*session, counter, 5);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ((*result)[0].scalar<int64_t>(), 5);
}

TEST(Loop, ConcurrentStepsLoopApart) {
  const Counter counter(3);
  const auto session = MakeLocalSession(counter.graph);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        const auto result = Count(*session, counter, 10 * t + round);
        ASSERT_TRUE(result.ok()) << result.status().ToString();
        ASSERT_EQ((*result)[0].scalar<int64_t>(), 10 * t + round);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Loop, OneStepIsCancelledAndTheOthersGoOn) {
  const Counter counter;
  const auto session = MakeLocalSession(counter.graph);
  Cancellation cancellation;
  RunOptions options;
  options.cancellation = &cancellation;
  std::thread endless([&] {
    const Status status =
        Count(*session, counter, std::numeric_limits<int64_t>::max(), options).status();
    EXPECT_EQ(status.code(), Code::kCancelled) << status.ToString();
  });
  const auto result = Count(*session, counter, 100'000);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  cancellation.Cancel(Cancelled("enough"));
  endless.join();
}

}  // namespace
}  // namespace penstock
