#include "penstock/ops/queue/stage.h"

#include <gtest/gtest.h>

#include <thread>

#include "penstock/ops/queue/testing/call.h"
#include "penstock/ops/queue/testing/session_test.h"

namespace penstock::ops {
namespace {

class StageTest : public SessionTest {
 protected:
  AttrMap Attrs(std::vector<DType> dtypes = {DType::kFloat}) {
    return {{"dtypes", std::move(dtypes)},
            {"capacity", capacity},
            {"memory_limit", memory_limit},
            {"shared_name", "area"}};
  }
  NodeId Put(const std::vector<Expr>& values) {
    std::vector<DType> dtypes;
    for (const Expr& value : values) dtypes.push_back(value.dtype());
    return Node("Stage", values, Attrs(dtypes));
  }
  Expr Get(std::vector<DType> dtypes = {DType::kFloat}) {
    return s.Add("Unstage", std::vector<Expr>(), Attrs(std::move(dtypes)));
  }
  Expr Peek(int32_t index) { return Op("StagePeek", s.Constant(Tensor::Scalar(index)), Attrs()); }
  Expr Size() { return s.Add("StageSize", std::vector<Expr>(), Attrs()); }
  void Ok(NodeId node) {
    const Result<std::vector<Tensor>> got = Run({}, {node});
    EXPECT_TRUE(got.ok()) << got.status().ToString();
  }
  void Waits(const std::vector<Expr>& fetches, const std::vector<NodeId>& targets = {}) {
    RunOptions options;
    options.timeout = std::chrono::milliseconds(20);
    ExpectError(Run(fetches, targets, {}, options), Code::kDeadlineExceeded, "");
  }

  int64_t capacity = 0, memory_limit = 0;
};

TEST_F(StageTest, FirstInIsFirstOut) {
  for (const float x : {1.f, 2.f, 3.f}) Ok(Put({Float(x)}));
  Expect(Size(), "int32 [] {3}");
  Expect(Peek(2), "float [] {3}");
  Expect(Get(), "float [] {1}");
  Expect(Peek(0), "float [] {2}");
  Ok(Node("StageClear", {}, Attrs()));
  Expect(Size(), "int32 [] {0}");
  Waits({Get()});
  Waits({Peek(0)});
}

TEST_F(StageTest, AStepMayStageAndUnstage) {
  const NodeId put = Put({Float(1), s.Constant(Tensor::Scalar<std::string>("a"))});
  const Expr get = Get({DType::kFloat, DType::kString});
  const Result<std::vector<Tensor>> got = Run({get, get.Output(1)}, {put});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[1].ToString(), "string [] {\"a\"}");
}

TEST_F(StageTest, AFullAreaMakesPuttersWait) {
  capacity = 1;
  const NodeId put = Put({Float(1)});
  Ok(put);
  Waits({}, {put});
  const Expr get = Get(), size = Size();
  std::thread waits([&] { Ok(put); });
  Expect(get, "float [] {1}");
  waits.join();
  Expect(size, "int32 [] {1}");
  const NodeId clear = Node("StageClear", {}, Attrs());
  std::thread more([&] { Ok(put); });
  Ok(clear);
  more.join();
}

TEST_F(StageTest, MemoryIsBounded) {
  memory_limit = 8;
  Ok(Put({Float(1)}));
  Ok(Put({Float(2)}));
  Waits({}, {Put({Float(3)})});
  ExpectError(Run({}, {Put({Floats({1, 2, 3})})}), Code::kResourceExhausted,
              "combined size of '12' bytes into Staging Area with a memory limit of '8'");
  Expect(Get(), "float [] {1}");
  Ok(Put({Float(3)}));
}

TEST_F(StageTest, WrongUnstagesLeaveTheElement) {
  Ok(Put({Float(1)}));
  ExpectError(Run({Get({DType::kInt32})}), Code::kInvalidArgument, "must be int32, got float");
  ExpectError(Run({Get({DType::kFloat, DType::kFloat})}), Code::kInvalidArgument,
              "Mismatch stage/unstage: 1 vs. 2");
  ExpectError(Run({Peek(-1)}), Code::kInvalidArgument, "must not be negative, got -1");
  const Result<NodeId> vector = AddNode("StagePeek", {Floats({1})}, Attrs());
  EXPECT_FALSE(vector.ok());
  Expect(Get(), "float [] {1}");
}

TEST_F(StageTest, TellsAboutItself) {
  Ok(Put({Floats({1, 2})}));
  EXPECT_NE(state->DebugString().find("staging area with 1 elements of 8 bytes, 0 waiting to put"),
            std::string::npos)
      << state->DebugString();
}

TEST_F(StageTest, CancellingEndsExactlyOneWaiter) {
  const auto area = std::make_shared<StagingArea>(StageLimits{});
  const std::vector<DType> dtypes{DType::kFloat};
  Call a, b, peek, put(0);
  area->Get(a.context(), dtypes, a.Done());
  area->Get(b.context(), dtypes, b.Done());
  area->Peek(peek.context(), 0, dtypes, peek.Done());
  a.cancellation.Cancel(Cancelled("stop"));
  EXPECT_EQ(a.status.ToString(), "CANCELLED: stop");
  EXPECT_FALSE(b.finished() || peek.finished());
  ops::Done done = put.Done();
  ASSERT_TRUE(area->Put(put.context(), {Tensor::Scalar(1.f)}, done).ok());
  EXPECT_TRUE(b.finished());
  EXPECT_FALSE(peek.finished());  // the getter was first
  peek.cancellation.Cancel(Cancelled("stop"));
  EXPECT_EQ(area->size(), 0);
}

TEST_F(StageTest, ConcurrentPuttersAndGettersLoseNothing) {
  constexpr int kEach = 3000, kThreads = 3;
  const auto area = std::make_shared<StagingArea>(StageLimits{4, 0});
  const std::vector<DType> dtypes{DType::kInt32};
  std::vector<std::atomic<int>> seen(kEach * kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        Call call(0);
        ops::Done done = call.Done();
        ASSERT_TRUE(area->Put(call.context(), {Tensor::Scalar(t * kEach + i)}, done).ok());
        ASSERT_TRUE(call.Wait().ok());
      }
    });
    threads.emplace_back([&] {
      for (int i = 0, tries = 0; i < kEach; ++tries) {
        Call call;
        area->Get(call.context(), dtypes, call.Done());
        if (tries % 5 == 0) call.cancellation.Cancel(Cancelled("stop"));
        if (!call.Wait().ok()) continue;
        seen[*call.output().data<int32_t>()].fetch_add(1);
        ++i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::atomic<int>& times : seen) ASSERT_EQ(times.load(), 1);
  EXPECT_EQ(area->size(), 0);
  EXPECT_EQ(area->MemoryBytes(), 0u);
}

}  // namespace
}  // namespace penstock::ops
