#include "penstock/session/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "penstock/device/device.h"
#include "penstock/device/kernel.h"
#include "penstock/graph/scope.h"

namespace penstock {
namespace {

// y = x * x + 1, and what is needed to run it.
struct Small {
  Graph graph;
  OutputRef x, square, y;

  explicit Small(const Shape& shape = Shape{-1}) {
    const Scope scope(graph);
    const Expr in = scope.Add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", shape}}, "x");
    const Expr squared = in * in;
    const Expr out = squared + 1;
    EXPECT_TRUE(scope.status().ok()) << scope.status().ToString();
    x = in.ref();
    square = squared.ref();
    y = out.ref();
  }
};

Tensor Vector(std::initializer_list<float> values) {
  return Tensor::FromValues<float>(Shape{static_cast<int64_t>(values.size())}, values);
}

TEST(Session, FeedsAndFetchesAnyEdge) {
  Small g;
  const auto session = MakeLocalSession(g.graph);
  const Tensor x = Vector({1, 2, 3});
  auto both = session->Run({{g.x}, {g.y, g.square}, {}}, {&x, 1}, {}, nullptr);
  ASSERT_TRUE(both.ok()) << both.status().ToString();
  EXPECT_EQ((*both)[0].ToString(), "float [3] {2, 5, 10}");
  EXPECT_EQ((*both)[1].ToString(), "float [3] {1, 4, 9}");
  // A fed edge cuts its producers off.
  auto cut = session->Run({{g.square}, {g.y}, {}}, {&x, 1}, {}, nullptr);
  ASSERT_TRUE(cut.ok()) << cut.status().ToString();
  EXPECT_EQ((*cut)[0].ToString(), "float [3] {2, 3, 4}");
  // Fetching what is fed gives it back.
  auto fed = session->Run({{g.y}, {g.y}, {}}, {&x, 1}, {}, nullptr);
  ASSERT_TRUE(fed.ok()) << fed.status().ToString();
  EXPECT_TRUE((*fed)[0].SharesBufferWith(x));
}

TEST(Session, CallablesAreCompiledOnce) {
  Small g;
  const auto session = MakeLocalSession(g.graph);
  auto handle = session->MakeCallable({{g.x}, {g.y}, {}});
  ASSERT_TRUE(handle.ok());
  const Tensor x = Vector({2});
  for (int i = 0; i < 3; ++i) {
    auto out = session->RunCallable(*handle, {&x, 1}, {}, nullptr);
    ASSERT_TRUE(out.ok());
    EXPECT_EQ((*out)[0].data<float>()[0], 5);
  }
  EXPECT_TRUE(session->ReleaseCallable(*handle).ok());
  EXPECT_EQ(session->ReleaseCallable(*handle).code(), Code::kNotFound);
  EXPECT_EQ(session->RunCallable(*handle, {&x, 1}, {}, nullptr).status().code(), Code::kNotFound);
}

TEST(Session, BadStepsNameWhatWasWrong) {
  Small g;
  const auto session = MakeLocalSession(g.graph);
  const Tensor x = Vector({1});
  auto error = [&](const CallableSpec& spec, std::span<const Tensor> feeds) {
    return session->Run(spec, feeds, {}, nullptr).status();
  };
  EXPECT_EQ(error({{g.x}, {}, {}}, {&x, 1}).message(),
            "Must specify at least one target to fetch or execute.");
  EXPECT_EQ(error({{}, {g.y}, {}}, {}).code(), Code::kInvalidArgument);
  EXPECT_NE(error({{}, {g.y}, {}}, {}).message().find("placeholder tensor 'x' with dtype float"),
            std::string::npos);
  EXPECT_NE(error({{}, {g.y}, {}}, {}).message().find("[[{{node x}}]]"), std::string::npos);
  EXPECT_EQ(error({{g.x, g.x}, {g.y}, {}}, std::vector<Tensor>{x, x}).message(),
            "x:0 is fed twice");
  EXPECT_EQ(error({{g.x}, {{999, 0}}, {}}, {&x, 1}).code(), Code::kNotFound);
  EXPECT_EQ(error({{g.x}, {{g.y.node, 1}}, {}}, {&x, 1}).code(), Code::kInvalidArgument);
  EXPECT_EQ(error({{g.x}, {g.y}, {-5}}, {&x, 1}).code(), Code::kNotFound);
  EXPECT_EQ(error({{g.x}, {g.y}, {}}, {}).code(), Code::kInvalidArgument);
  const Tensor wrong_type = Tensor::Scalar<int32_t>(1);
  EXPECT_NE(
      error({{g.x}, {g.y}, {}}, {&wrong_type, 1}).message().find("must be float [?], got int32 []"),
      std::string::npos);
  const Tensor nothing;
  EXPECT_EQ(error({{g.x}, {g.y}, {}}, {&nothing, 1}).code(), Code::kInvalidArgument);
  // And the session works on.
  EXPECT_TRUE(session->Run({{g.x}, {g.y}, {}}, {&x, 1}, {}, nullptr).ok());
}

TEST(Session, AllocationsPastTheLimitFailTheStepAndNameTheNode) {
  Graph graph;
  const Scope scope(graph);
  const Expr x =
      scope.Add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape{-1, 1}}}, "x");
  const Expr y =
      scope.Add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape{1, -1}}}, "y");
  const Expr outer = scope.Add("Mul", {x, y}, {}, "outer");
  LocalSessionOptions options;
  options.memory_limit = 1 << 20;
  const auto session = MakeLocalSession(graph, options);
  const Tensor small[] = {Tensor::FromValues<float>(Shape{2, 1}, {1, 2}),
                          Tensor::FromValues<float>(Shape{1, 2}, {3, 4})};
  const Tensor large[] = {Tensor(DType::kFloat, Shape{4096, 1}),
                          Tensor(DType::kFloat, Shape{1, 4096})};
  const CallableSpec spec{{x.ref(), y.ref()}, {outer.ref()}, {}};
  const Status status = session->Run(spec, large, {}, nullptr).status();
  EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.ToString();
  EXPECT_NE(status.message().find("{{node outer}}"), std::string::npos) << status.ToString();
  auto after = session->Run(spec, small, {}, nullptr);
  ASSERT_TRUE(after.ok()) << after.status().ToString();
  EXPECT_EQ((*after)[0].ToString(), "float [2,2] {3, 4, 6, 8}");
}

TEST(Session, AMemoryPlanPastTheLimitNamesItsLargestNode) {
  Graph graph;
  const Scope scope(graph);
  const Expr x =
      scope.Add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape{1024, 1024}}}, "x");
  const Expr large = scope.Add("Tanh", {x}, {}, "large");
  const Expr small =
      scope.Add("Sum", {large, scope.Constant(Tensor::FromValues<int32_t>(Shape{2}, {0, 1}))});
  ASSERT_TRUE(scope.status().ok());
  LocalSessionOptions options;
  options.memory_limit = 1 << 20;
  options.disabled_passes = {"fuse"};
  const auto session = MakeLocalSession(graph, options);
  const Tensor feed(DType::kFloat, Shape{1024, 1024});
  const Status status =
      session->Run({{x.ref()}, {small.ref()}, {}}, {&feed, 1}, {}, nullptr).status();
  EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.ToString();
  EXPECT_NE(status.message().find("{{node large}}"), std::string::npos) << status.ToString();
}

TEST(Session, TracesToChromeAndStepStats) {
  Small g;
  const auto session =
      MakeLocalSession(g.graph, {.device = nullptr, .state = nullptr, .disabled_passes = {"fuse"}});
  const Tensor x = Vector({1, 2});
  RunOptions options;
  options.trace = true;
  RunMetadata metadata;
  ASSERT_TRUE(session->Run({{g.x}, {g.y}, {}}, {&x, 1}, options, &metadata).ok());
  EXPECT_NE(metadata.chrome_trace.find("\"ph\":\"X\""), std::string::npos);
  EXPECT_NE(metadata.chrome_trace.find("\"name\":\"Mul\""), std::string::npos);
  EXPECT_NE(metadata.step_stats.find("Mul"), std::string::npos);
}

TEST(Session, ACancelledOrClosedSessionRefuses) {
  Small g;
  const auto session = MakeLocalSession(g.graph);
  const Tensor x = Vector({1});
  Cancellation cancellation;
  cancellation.Cancel(Cancelled("the user changed their mind"));
  RunOptions options;
  options.cancellation = &cancellation;
  EXPECT_EQ(session->Run({{g.x}, {g.y}, {}}, {&x, 1}, options, nullptr).status().message(),
            "the user changed their mind");
  ASSERT_TRUE(session->Close().ok());
  EXPECT_EQ(session->Run({{g.x}, {g.y}, {}}, {&x, 1}, {}, nullptr).status().code(),
            Code::kFailedPrecondition);
}

// A long chain over a vector: enough to be caught in the middle.
struct Long {
  Graph graph;
  OutputRef x, y;
  Long() {
    const Scope scope(graph);
    Expr value =
        scope.Add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape{1 << 16}}}, "x");
    x = value.ref();
    for (int i = 0; i < 20000; ++i) value = Op("Tanh", value);
    y = value.ref();
  }
};

TEST(Session, TimeoutsAndCloseEndALongStep) {
  Long g;
  const auto session =
      MakeLocalSession(g.graph, {.device = nullptr, .state = nullptr, .disabled_passes = {"fuse"}});
  const Tensor x(DType::kFloat, Shape{1 << 16});
  const CallableSpec spec{{g.x}, {g.y}, {}};
  ASSERT_TRUE(session->MakeCallable(spec).ok());
  RunOptions options;
  options.timeout = std::chrono::milliseconds(5);
  const Status late = session->Run(spec, {&x, 1}, options, nullptr).status();
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded) << late.ToString();
  std::thread closer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_TRUE(session->Close().ok());
  });
  Status closed;
  for (int i = 0; i < 1000 && closed.ok(); ++i)
    closed = session->Run(spec, {&x, 1}, {}, nullptr).status();
  closer.join();
  EXPECT_TRUE(closed.code() == Code::kCancelled || closed.code() == Code::kFailedPrecondition)
      << closed.ToString();
}

TEST(SessionConcurrency, ManyStepsRunAtOnce) {
  Small g;
  LocalSessionOptions options;
  options.threads = 2;
  const auto session = MakeLocalSession(g.graph, options);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const Tensor x = Vector({static_cast<float>(t), static_cast<float>(i)});
        // Signatures differ, so plans are compiled while others run.
        const bool both = (i + t) % 2 == 0;
        CallableSpec spec{{g.x}, {g.y}, {}};
        if (both) spec.fetches.push_back(g.square);
        auto out = session->Run(spec, {&x, 1}, {}, nullptr);
        ASSERT_TRUE(out.ok()) << out.status().ToString();
        ASSERT_EQ((*out)[0].data<float>()[1], static_cast<float>(i * i + 1));
        if (both) {
          ASSERT_EQ((*out)[1].data<float>()[0], static_cast<float>(t * t));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Wide, dear branches: nodes run beside each other.
TEST(SessionConcurrency, ParallelBranchesAgreeWithOneThread) {
  Graph graph;
  const Scope scope(graph);
  const Expr x =
      scope.Add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape{100'000}}}, "x");
  Expr sum = x;
  for (int branch = 0; branch < 8; ++branch) {
    Expr value = x * (branch + 1.0);
    for (int i = 0; i < 5; ++i) value = Op("Tanh", value);
    sum = sum + value;
  }
  ASSERT_TRUE(scope.status().ok());
  Tensor feed(DType::kFloat, Shape{100'000});
  for (int i = 0; i < 100'000; ++i) feed.mutable_data<float>()[i] = static_cast<float>(i) * 1e-5f;
  std::vector<Tensor> results;
  for (const int threads : {1, 2, 4}) {
    LocalSessionOptions options;
    options.device = MakeCpuDevice({.threads = threads});
    options.disabled_passes = {"fuse"};
    const auto session = MakeLocalSession(graph, options);
    for (int i = 0; i < 5; ++i) {
      auto out = session->Run({{x.ref()}, {sum.ref()}, {}}, {&feed, 1}, {}, nullptr);
      ASSERT_TRUE(out.ok()) << out.status().ToString();
      results.push_back((*out)[0]);
    }
  }
  for (const Tensor& result : results) EXPECT_TRUE(SameContent(result, results[0]));
}

}  // namespace
}  // namespace penstock
