#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "penstock/device/state.h"
#include "penstock/graph/scope.h"
#include "penstock/session/session.h"

namespace penstock {
namespace {

using PartialFeeds = std::vector<std::pair<OutputRef, Tensor>>;
using Refs = std::vector<OutputRef>;

Tensor F(float value) { return Tensor::Scalar(value); }

// a -> first = a + 1; first, b -> second = first * b; c is alone; count counts its own runs.
struct Chain {
  Graph graph;
  OutputRef a, b, c, first, second, alone, count;
  NodeId init, increment;

  Chain() {
    const Scope scope(graph);
    auto in = [&](const char* name) {
      return scope.Add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}}, name);
    };
    const Expr ea = in("a");
    const Expr eb = in("b");
    const Expr ec = in("c");
    const Expr e1 = scope.Add("Add", {ea, scope.Constant(F(1))}, {}, "first");
    const Expr e2 = scope.Add("Mul", {e1, eb}, {}, "second");
    const Expr e3 = scope.Add("Neg", {ec}, {}, "alone");
    const Expr variable =
        scope.Add("VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}}, "count");
    const Expr zero = scope.Add("Assign", {variable, scope.Constant(F(0))}, {}, "init");
    const Expr more = scope.Add("AssignAdd", {variable, e1}, {}, "increment");
    EXPECT_TRUE(scope.status().ok()) << scope.status().ToString();
    a = ea.ref();
    b = eb.ref();
    c = ec.ref();
    first = e1.ref();
    second = e2.ref();
    alone = e3.ref();
    count = variable.ref();
    init = zero.ref().node;
    increment = more.ref().node;
  }
};

TEST(PartialRun, FeedsAndFetchesComeInPieces) {
  Chain g;
  const auto session = MakeLocalSession(g.graph);
  const auto handle = session->PartialRunSetup({{g.a, g.b}, {g.first, g.second, g.first}, {}});
  ASSERT_TRUE(handle.ok()) << handle.status().ToString();
  const auto one = session->PartialRun(*handle, PartialFeeds{{g.a, F(2)}}, Refs{g.first}, {});
  ASSERT_TRUE(one.ok()) << one.status().ToString();
  EXPECT_EQ((*one)[0].scalar<float>(), 3);
  const auto two = session->PartialRun(*handle, PartialFeeds{{g.b, F(5)}}, Refs{g.second}, {});
  ASSERT_TRUE(two.ok()) << two.status().ToString();
  EXPECT_EQ((*two)[0].scalar<float>(), 15);
  // Everything was used: the handle is gone.
  const Status gone = session->PartialRun(*handle, {}, {}, {}).status();
  EXPECT_EQ(gone.code(), Code::kInvalidArgument);
  EXPECT_EQ(gone.message(), "Must run PartialRunSetup before performing partial runs");
}

TEST(PartialRun, FeedsMayComeBeforeTheFetchesThatNeedThem) {
  Chain g;
  const auto session = MakeLocalSession(g.graph);
  const auto handle = session->PartialRunSetup({{g.a, g.b, g.c}, {g.alone, g.second, g.b}, {}});
  ASSERT_TRUE(handle.ok()) << handle.status().ToString();
  ASSERT_TRUE(session->PartialRun(*handle, PartialFeeds{{g.b, F(4)}}, {}, {}).ok());
  const auto alone = session->PartialRun(*handle, PartialFeeds{{g.c, F(1)}}, Refs{g.alone}, {});
  ASSERT_TRUE(alone.ok()) << alone.status().ToString();
  EXPECT_EQ((*alone)[0].scalar<float>(), -1);
  // An edge that is fed can be fetched too.
  const auto rest =
      session->PartialRun(*handle, PartialFeeds{{g.a, F(0)}}, Refs{g.b, g.second}, {});
  ASSERT_TRUE(rest.ok()) << rest.status().ToString();
  EXPECT_EQ((*rest)[0].scalar<float>(), 4);
  EXPECT_EQ((*rest)[1].scalar<float>(), 4);
}

TEST(PartialRun, EachNodeRunsOnce) {
  Chain g;
  const auto session = MakeLocalSession(g.graph);
  ASSERT_TRUE(session->Run({{}, {}, {g.init}}, {}, {}, nullptr).ok());
  const auto handle = session->PartialRunSetup({{g.a, g.b}, {g.first, g.second}, {g.increment}});
  ASSERT_TRUE(handle.ok()) << handle.status().ToString();
  ASSERT_TRUE(session->PartialRun(*handle, PartialFeeds{{g.a, F(2)}}, Refs{g.first}, {}).ok());
  ASSERT_TRUE(session->PartialRun(*handle, PartialFeeds{{g.b, F(2)}}, Refs{g.second}, {}).ok());
  const auto count = session->Run({{}, {g.count}, {}}, {}, {}, nullptr);
  ASSERT_TRUE(count.ok()) << count.status().ToString();
  EXPECT_EQ((*count)[0].scalar<float>(), 3);
}

TEST(PartialRun, MistakesAreRefusedAndTheStepGoesOn) {
  Chain g;
  const auto session = MakeLocalSession(g.graph);
  const auto handle = session->PartialRunSetup({{g.a, g.b}, {g.first, g.second}, {}});
  ASSERT_TRUE(handle.ok());
  auto error = [&](const PartialFeeds& feeds, const Refs& fetches) {
    const Status status = session->PartialRun(*handle, feeds, fetches, {}).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
    return status.message();
  };
  auto expect = [&](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(error({{g.c, F(1)}}, {}), "was not specified in PartialRunSetup");
  expect(error({}, {g.alone}), "was not specified in PartialRunSetup");
  expect(error({}, {g.first}), "depends on feeds that have not been given: a:0");
  expect(error({{g.a, F(1)}}, {g.second}), "depends on feeds that have not been given: b:0");
  expect(error({{g.a, F(1)}, {g.a, F(1)}}, {}), "a:0 has already been fed");
  expect(error({{g.a, Tensor::Scalar(1)}}, {}), "must be float [], got int32 []");
  expect(error({{g.a, Tensor()}}, {}), "holds no value");
  // None of this used anything up.
  ASSERT_TRUE(session->PartialRun(*handle, PartialFeeds{{g.a, F(1)}}, Refs{g.first}, {}).ok());
  expect(error({{g.a, F(1)}}, {}), "a:0 has already been fed");
  expect(error({}, {g.first}), "first:0 has already been fetched");
  EXPECT_TRUE(session->PartialRun(*handle, PartialFeeds{{g.b, F(1)}}, Refs{g.second}, {}).ok());
}

TEST(PartialRun, BadSetupsAreRefused) {
  Chain g;
  const auto session = MakeLocalSession(g.graph);
  EXPECT_EQ(session->PartialRunSetup({{g.a}, {}, {}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(session->PartialRunSetup({{g.a, g.a}, {g.first}, {}}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(session->PartialRunSetup({{}, {{999, 0}}, {}}).status().code(), Code::kNotFound);
  EXPECT_EQ(session->PartialRunAbandon(5).code(), Code::kInvalidArgument);
}

TEST(PartialRun, AFailedNodeFailsTheCallsAndEndsTheRun) {
  Graph graph;
  const Scope scope(graph);
  const Expr fed =
      scope.Add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}}, "fed");
  const Expr forgotten =
      scope.Add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}}, "forgotten");
  const Expr sum = scope.Add("Add", {fed, forgotten}, {}, "sum");
  const auto session = MakeLocalSession(graph);
  const auto handle = session->PartialRunSetup({{fed.ref()}, {sum.ref()}, {}});
  ASSERT_TRUE(handle.ok()) << handle.status().ToString();
  const Status status =
      session->PartialRun(*handle, PartialFeeds{{fed.ref(), F(1)}}, Refs{sum.ref()}, {}).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("placeholder tensor 'forgotten'"), std::string::npos)
      << status.ToString();
  EXPECT_EQ(session->PartialRunAbandon(*handle).code(), Code::kInvalidArgument);
}

TEST(PartialRun, AbandonedAndClosedRunsEnd) {
  Chain g;
  const auto session = MakeLocalSession(g.graph);
  const CallableSpec spec{{g.a, g.b}, {g.first, g.second}, {}};
  const auto abandoned = session->PartialRunSetup(spec);
  const auto open = session->PartialRunSetup(spec);
  ASSERT_TRUE(abandoned.ok() && open.ok());
  EXPECT_NE(session->DebugString().find("feeds to come: a:0, b:0"), std::string::npos)
      << session->DebugString();
  EXPECT_TRUE(session->PartialRunAbandon(*abandoned).ok());
  EXPECT_EQ(session->PartialRun(*abandoned, {}, Refs{g.first}, {}).status().code(),
            Code::kInvalidArgument);
  ASSERT_TRUE(session->Close().ok());
  EXPECT_FALSE(session->PartialRun(*open, PartialFeeds{{g.a, F(1)}}, {}, {}).ok());
  EXPECT_EQ(session->PartialRunSetup(spec).status().code(), Code::kFailedPrecondition);
}

// The step waits for other feeds: a dead fetch must not wait with it.
TEST(PartialRun, ABranchNotTakenHasNoValue) {
  Graph graph;
  const Scope scope(graph);
  auto in = [&](const char* name, DType dtype) {
    return scope.Add("Placeholder", {}, {{"dtype", dtype}, {"shape", Shape{}}}, name);
  };
  const Expr x = in("x", DType::kFloat);
  const Expr choice = in("choice", DType::kBool);
  const Expr later = in("later", DType::kFloat);
  const Expr both = scope.Add("Switch", {x, choice}, {}, "both");
  const Expr no = scope.Add("Neg", {both}, {}, "no");
  const Expr yes = scope.Add("Neg", {both.Output(1)}, {}, "yes");
  const Expr rest = scope.Add("Neg", {later}, {}, "rest");
  ASSERT_TRUE(scope.status().ok()) << scope.status().ToString();
  const auto session = MakeLocalSession(graph);
  const CallableSpec spec{
      {x.ref(), choice.ref(), later.ref()}, {no.ref(), yes.ref(), rest.ref()}, {}};
  const PartialFeeds feeds{{x.ref(), F(3)}, {choice.ref(), Tensor::Scalar(true)}};
  const auto taken = session->PartialRunSetup(spec);
  ASSERT_TRUE(taken.ok()) << taken.status().ToString();
  const auto value = session->PartialRun(*taken, feeds, Refs{yes.ref()}, {});
  ASSERT_TRUE(value.ok()) << value.status().ToString();
  EXPECT_EQ((*value)[0].scalar<float>(), -3);
  const Status dead = session->PartialRun(*taken, {}, Refs{no.ref()}, {}).status();
  EXPECT_EQ(dead.code(), Code::kInvalidArgument);
  EXPECT_NE(dead.message().find("no:0 was not valid"), std::string::npos) << dead.ToString();
  EXPECT_FALSE(session->PartialRunAbandon(*taken).ok());  // an error ends the run
}

// A value that never comes: a _Recv without its _Send.
struct Waits {
  Graph graph;
  OutputRef never;
  Waits() {
    const Scope scope(graph);
    never = scope
                .Add("_Recv", {},
                     {{"tensor_type", DType::kFloat},
                      {"tensor_name", "nothing"},
                      {"send_device", "a"},
                      {"send_device_incarnation", 1},
                      {"recv_device", "b"}},
                     "never")
                .ref();
    EXPECT_TRUE(scope.status().ok()) << scope.status().ToString();
  }
};

TEST(PartialRun, TimeoutsAndCancellationEndACallThatWaits) {
  Waits g;
  const auto session = MakeLocalSession(g.graph);
  const auto timed = session->PartialRunSetup({{}, {g.never}, {}});
  ASSERT_TRUE(timed.ok()) << timed.status().ToString();
  RunOptions options;
  options.timeout = std::chrono::milliseconds(5);
  const Status late = session->PartialRun(*timed, {}, Refs{g.never}, options).status();
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded) << late.ToString();
  EXPECT_EQ(session->PartialRunAbandon(*timed).code(), Code::kInvalidArgument);

  const auto cancelled = session->PartialRunSetup({{}, {g.never}, {}});
  ASSERT_TRUE(cancelled.ok());
  Cancellation cancellation;
  RunOptions cancellable;
  cancellable.cancellation = &cancellation;
  std::thread canceller([&] { cancellation.Cancel(Cancelled("enough")); });
  const Status status = session->PartialRun(*cancelled, {}, Refs{g.never}, cancellable).status();
  canceller.join();
  EXPECT_EQ(status.code(), Code::kCancelled);
}

TEST(PartialRunConcurrent, CloseWakesACallThatWaits) {
  for (int round = 0; round < 20; ++round) {
    Waits g;
    const auto session = MakeLocalSession(g.graph);
    const auto handle = session->PartialRunSetup({{}, {g.never}, {}});
    ASSERT_TRUE(handle.ok());
    std::atomic<bool> waiting{false};
    Status status;
    std::thread caller([&] {
      waiting = true;
      status = session->PartialRun(*handle, {}, Refs{g.never}, {}).status();
    });
    while (!waiting) std::this_thread::yield();
    if (round % 2 == 0) {
      ASSERT_TRUE(session->Close().ok());
    } else {
      (void)session->PartialRunAbandon(*handle);
    }
    caller.join();
    EXPECT_FALSE(status.ok());
  }
}

TEST(PartialRunStress, ConcurrentRunsAndCallers) {
  Chain g;
  const auto session = MakeLocalSession(g.graph);
  const CallableSpec spec{{g.a, g.b}, {g.first, g.second}, {}};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto handle = session->PartialRunSetup(spec);
        ASSERT_TRUE(handle.ok());
        if (i % 5 == 4) {
          ASSERT_TRUE(session->PartialRunAbandon(*handle).ok());
          continue;
        }
        const auto value = static_cast<float>(t * 100 + i);
        // Two callers on one run: each feed and fetch is used by one of them.
        std::thread other([&] {
          const auto out =
              session->PartialRun(*handle, PartialFeeds{{g.a, F(value)}}, Refs{g.first}, {});
          ASSERT_TRUE(out.ok()) << out.status().ToString();
          EXPECT_EQ((*out)[0].scalar<float>(), value + 1);
        });
        ASSERT_TRUE(session->PartialRun(*handle, PartialFeeds{{g.b, F(2)}}, {}, {}).ok());
        other.join();
        const auto out = session->PartialRun(*handle, {}, Refs{g.second}, {});
        ASSERT_TRUE(out.ok()) << out.status().ToString();
        EXPECT_EQ((*out)[0].scalar<float>(), 2 * (value + 1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(session->DebugString().find("partial runs:\nstate:"), std::string::npos)
      << session->DebugString();
}

}  // namespace
}  // namespace penstock
