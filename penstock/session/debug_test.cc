#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "penstock/core/log.h"
#include "penstock/core/mutex.h"
#include "penstock/graph/scope.h"
#include "penstock/session/session.h"
#include "penstock/session/stall_watch.h"

namespace penstock {
namespace {

// Keeps what is logged while it lives.
class LogCapture {
 public:
  LogCapture() {
    SetLogSink([this](LogLevel, std::string_view line) {
      MutexLock lock(mu_);
      lines_.emplace_back(line);
      changed_.NotifyAll();
    });
  }
  ~LogCapture() { SetLogSink({}); }
  std::vector<std::string> lines() const {
    MutexLock lock(mu_);
    return lines_;
  }
  void WaitForLine() {
    MutexLock lock(mu_);
    while (lines_.empty()) changed_.Wait(mu_);
  }

 private:
  mutable Mutex mu_;
  CondVar changed_;
  std::vector<std::string> lines_;
};

// A step that waits for ever, and a variable.
struct Waits {
  Graph graph;
  OutputRef never;
  NodeId init;
  Waits() {
    const Scope scope(graph);
    const Expr received = scope.Add("_Recv", {},
                                    {{"tensor_type", DType::kFloat},
                                     {"tensor_name", "nothing"},
                                     {"send_device", "a"},
                                     {"send_device_incarnation", 1},
                                     {"recv_device", "b"}},
                                    "never");
    const Expr variable =
        scope.Add("VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", Shape{3}}}, "weights");
    const Expr value = scope.Constant(Tensor::FromValues<float>(Shape{3}, {1, 2, 3}));
    init = scope.Add("Assign", {variable, value}, {}, "init").ref().node;
    never = scope.Add("Neg", {received}, {}, "after").ref();
    EXPECT_TRUE(scope.status().ok()) << scope.status().ToString();
  }
};

TEST(SessionDebug, NamesStepsAndState) {
  Waits g;
  const auto session = MakeLocalSession(g.graph);
  ASSERT_TRUE(session->Run({{}, {}, {g.init}}, {}, {}, nullptr).ok());
  std::thread step([&] { EXPECT_FALSE(session->Run({{}, {g.never}, {}}, {}, {}, nullptr).ok()); });
  std::string text;
  while (text.find("fetches after:0") == std::string::npos) {
    text = session->DebugString();
    std::this_thread::yield();
  }
  EXPECT_NE(text.find("container localhost: 1 resources, 12 bytes\n"
                      "  localhost/weights: variable float [3], 12 bytes\n"),
            std::string::npos)
      << text;
  ASSERT_TRUE(session->Close().ok());
  step.join();
  EXPECT_EQ(session->DebugString().find("fetches"), std::string::npos);
}

// In a graph without control flow, and in one with it: different executors run them.
TEST(SessionDebug, NamesTheNodesThatWait) {
  for (const bool in_a_loop : {false, true}) {
    Waits g;
    OutputRef wanted = g.never;
    if (in_a_loop) {
      const Scope scope(g.graph);
      const Expr entered =
          scope.Add("Enter", {Expr(&scope, g.never)}, {{"frame_name", std::string("loop")}});
      wanted = scope.Add("Exit", {entered}, {}).ref();
      ASSERT_TRUE(scope.status().ok()) << scope.status().ToString();
    }
    const auto session = MakeLocalSession(g.graph);
    std::thread step([&] { (void)session->Run({{}, {wanted}, {}}, {}, {}, nullptr).status(); });
    while (session->DebugString().find("waiting: never = _Recv for") == std::string::npos)
      std::this_thread::yield();
    ASSERT_TRUE(session->Close().ok());
    step.join();
  }
}

TEST(SessionDebugConcurrent, AStallIsReportedOnce) {
  LogCapture log;
  Waits g;
  LocalSessionOptions options;
  options.stall_report_after = std::chrono::milliseconds(20);
  const auto session = MakeLocalSession(g.graph, options);
  std::thread step([&] { EXPECT_FALSE(session->Run({{}, {g.never}, {}}, {}, {}, nullptr).ok()); });
  log.WaitForLine();
  // Long enough for more reports, were there any.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ASSERT_TRUE(session->Close().ok());
  step.join();
  ASSERT_EQ(log.lines().size(), 1u);
  const std::string line = log.lines()[0];
  EXPECT_NE(line.find("a step made no progress for 20 ms"), std::string::npos) << line;
  EXPECT_NE(line.find("fetches after:0"), std::string::npos) << line;
}

TEST(SessionDebugConcurrent, StepsThatMoveAreNotReported) {
  LogCapture log;
  Waits g;
  LocalSessionOptions options;
  options.stall_report_after = std::chrono::seconds(60);
  const auto session = MakeLocalSession(g.graph, options);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(session->Run({{}, {}, {g.init}}, {}, {}, nullptr).ok());
  EXPECT_TRUE(log.lines().empty());
}

TEST(SessionDebug, ABadEnvironmentIsReportedAndIgnored) {
  LogCapture log;
  ASSERT_EQ(setenv("PENSTOCK_STALL_REPORT_MS", "250", 1), 0);
  EXPECT_EQ(StallLimitFromEnvironment().count(), 250);
  EXPECT_TRUE(log.lines().empty());
  for (const char* bad : {"soon", "-5", "0", "12x", "99999999999999999999"}) {
    ASSERT_EQ(setenv("PENSTOCK_STALL_REPORT_MS", bad, 1), 0);
    EXPECT_EQ(StallLimitFromEnvironment().count(), 0) << bad;
  }
  EXPECT_EQ(log.lines().size(), 5u);
  ASSERT_EQ(unsetenv("PENSTOCK_STALL_REPORT_MS"), 0);
  EXPECT_EQ(StallLimitFromEnvironment().count(), 0);
}

TEST(StepTable, FindsEachStallOnce) {
  StepTable table;
  ActiveStep step;
  ASSERT_TRUE(table.Add(&step).ok());
  const auto start = step.started;
  const std::chrono::milliseconds limit(100);
  EXPECT_FALSE(table.FindStalled(start + limit / 2, limit));
  EXPECT_TRUE(table.FindStalled(start + limit, limit));
  EXPECT_FALSE(table.FindStalled(start + 2 * limit, limit));
  step.progress.NodeEnded();
  EXPECT_FALSE(table.FindStalled(start + 3 * limit, limit));
  EXPECT_TRUE(table.FindStalled(start + 4 * limit, limit));
  table.Remove(&step);
  EXPECT_FALSE(table.FindStalled(start + 9 * limit, limit));
}

}  // namespace
}  // namespace penstock
