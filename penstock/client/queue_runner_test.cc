#include "penstock/client/queue_runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "penstock/graph/scope.h"

namespace penstock {
namespace {

// An input queue of int64 and an output queue that runners fill from it, one element a step.
struct Pipe {
  Graph graph;
  OutputRef fed;  // what `put` enqueues
  NodeId put, put_end;
  OutputRef take, size;
  QueueRunner runner;

  explicit Pipe(int threads, int64_t capacity = 4) {
    const Scope scope(graph);
    auto queue = [&](const char* name, int64_t limit) {
      return scope.Add("FIFOQueueV2", {},
                       {{"component_types", std::vector<DType>{DType::kInt64}},
                        {"shapes", std::vector<Shape>{Shape{}}},
                        {"capacity", limit}},
                       name);
    };
    auto dequeue = [&](Expr from, const char* name) {
      return scope.Add("QueueDequeueV2", {from},
                       {{"component_types", std::vector<DType>{DType::kInt64}}}, name);
    };
    auto node = [&](const char* op, std::vector<Expr> inputs, const std::string& name,
                    AttrMap attrs = {}) {
      NodeSpec spec{.op = op, .name = name, .attrs = std::move(attrs)};
      for (const Expr& input : inputs) spec.inputs.push_back(input.ref());
      const Result<NodeId> id = scope.AddNode(std::move(spec));
      EXPECT_TRUE(id.ok()) << id.status().ToString();
      return id.ok() ? *id : kNoNode;
    };
    const Expr in = queue("in", -1);
    const Expr out = queue("out", capacity);
    const Expr value =
        scope.Add("Placeholder", {}, {{"dtype", DType::kInt64}, {"shape", Shape{}}}, "value");
    EXPECT_TRUE(scope.status().ok()) << scope.status().ToString();
    fed = value.ref();
    put = node("QueueEnqueueV2", {in, value}, "put");
    put_end = node("QueueCloseV2", {in}, "put_end");
    for (int t = 0; t < threads; ++t) {
      const std::string name = "fill_" + std::to_string(t);
      node("QueueEnqueueV2", {out, dequeue(in, "read")}, name);
      runner.enqueue_ops.push_back(name);
    }
    node("QueueCloseV2", {out}, "close");
    node("QueueCloseV2", {out}, "cancel", {{"cancel_pending_enqueues", true}});
    take = dequeue(out, "take").ref();
    size = scope.Add("QueueSizeV2", {out}, {}, "size").ref();
    EXPECT_TRUE(scope.status().ok()) << scope.status().ToString();
    runner.queue = "out";
    runner.close_op = "close";
    runner.cancel_op = "cancel";
  }

  void Fill(Session& session, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) {
      const Tensor value = Tensor::Scalar(i);
      OrThrow(session.backend().Run({{fed}, {}, {put}}, {&value, 1}, {}, nullptr));
    }
    OrThrow(session.backend().Run({{}, {}, {put_end}}, {}, {}, nullptr));
  }
  Result<int64_t> Take(Session& session) const {
    TRY_ASSIGN(const std::vector<Tensor> out,
               session.backend().Run({{}, {take}, {}}, {}, {}, nullptr));
    return out[0].scalar<int64_t>();
  }
};

TEST(QueueRunner, EveryElementArrivesAndTheQueueIsClosed) {
  const Pipe pipe(3);
  Session session(pipe.graph);
  Coordinator coordinator;
  constexpr int64_t kCount = 200;
  pipe.Fill(session, kCount);
  pipe.runner.Start(pipe.graph, session, coordinator);
  std::set<int64_t> got;
  Result<int64_t> value = pipe.Take(session);
  for (; value.ok(); value = pipe.Take(session)) EXPECT_TRUE(got.insert(*value).second) << *value;
  EXPECT_EQ(value.status().code(), Code::kOutOfRange) << value.status().ToString();
  EXPECT_EQ(got.size(), static_cast<size_t>(kCount));
  coordinator.Join();  // the end of input is a clean end
  EXPECT_FALSE(coordinator.ShouldStop());
}

TEST(QueueRunner, AStopEndsEnqueuesThatWait) {
  const Pipe pipe(2, 1);
  Session session(pipe.graph);
  Coordinator coordinator;
  pipe.Fill(session, 50);
  pipe.runner.Start(pipe.graph, session, coordinator);
  ASSERT_TRUE(pipe.Take(session).ok());
  coordinator.RequestStop();
  coordinator.Join();
}

TEST(QueueRunner, AnErrorStopsAllAndComesOutOfJoin) {
  Pipe pipe(1, 1);
  pipe.runner.enqueue_ops.push_back("put");  // needs a feed that nobody gives
  Session session(pipe.graph);
  Coordinator coordinator;
  pipe.Fill(session, 50);
  pipe.runner.Start(pipe.graph, session, coordinator);
  try {
    coordinator.Join();
    FAIL() << "Join must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument) << error.what();
  }
}

TEST(QueueRunner, RunnersAreKeptInTheGraph) {
  Pipe pipe(2);
  AddQueueRunner(pipe.graph, pipe.runner);
  const std::vector<QueueRunner> runners = QueueRunners(pipe.graph);
  ASSERT_EQ(runners.size(), 1u);
  EXPECT_EQ(runners[0].queue, "out");
  EXPECT_EQ(runners[0].enqueue_ops, pipe.runner.enqueue_ops);
  EXPECT_EQ(runners[0].close_op, "close");
  EXPECT_EQ(runners[0].cancel_op, "cancel");
  Session session(pipe.graph);
  Coordinator coordinator;
  pipe.Fill(session, 3);
  EXPECT_EQ(StartQueueRunners(pipe.graph, session, coordinator), 2);
  int64_t sum = 0;
  for (int i = 0; i < 3; ++i) sum += *pipe.Take(session);
  EXPECT_EQ(sum, 3);
  EXPECT_FALSE(pipe.Take(session).ok());
  coordinator.Join();

  QueueRunner bad = pipe.runner;
  bad.cancel_op = "nothing";
  EXPECT_THROW(AddQueueRunner(pipe.graph, bad), Error);
  EXPECT_THROW(bad.Start(pipe.graph, session, coordinator), Error);
}

TEST(QueueRunnerConcurrent, ClosingTheSessionEndsTheThreads) {
  const Pipe pipe(2, 1);
  Session session(pipe.graph);
  Coordinator coordinator;
  pipe.runner.Start(pipe.graph, session, coordinator);  // its input is empty: threads wait
  for (const char* name : {"targets fill_0", "targets fill_1"}) {
    while (session.DebugString().find(name) == std::string::npos) std::this_thread::yield();
  }
  ASSERT_TRUE(session.backend().Close().ok());
  coordinator.Join();  // cancelled by the close: no error
}

TEST(QueueRunnerStress, ConcurrentProducersConsumersAndStops) {
  for (int round = 0; round < 10; ++round) {
    const Pipe pipe(3, 2);
    Session session(pipe.graph);
    constexpr int64_t kCount = 60;
    pipe.Fill(session, kCount);
    std::atomic<int64_t> taken{0};
    {
      Coordinator coordinator;
      pipe.runner.Start(pipe.graph, session, coordinator);
      for (int t = 0; t < 2; ++t) {
        coordinator.Start("consumer", [&] {
          while (!coordinator.ShouldStop()) {
            OrThrow(pipe.Take(session));
            if (taken.fetch_add(1) == 30 && round % 2 == 1) coordinator.RequestStop();
          }
        });
      }
      coordinator.Join();
    }
    if (round % 2 == 0) {
      EXPECT_EQ(taken.load(), kCount);
    } else {
      EXPECT_GE(taken.load(), 31);
    }
  }
}

}  // namespace
}  // namespace penstock
