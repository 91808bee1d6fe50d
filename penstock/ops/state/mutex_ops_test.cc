#include "penstock/ops/state/mutex_ops.h"

#include <atomic>
#include <thread>

#include "penstock/ops/state/testing/state_fixture.h"

namespace penstock::ops {
namespace {

class MutexOpsTest : public StateFixture {
 protected:
  size_t NumWaiting() {
    return std::dynamic_pointer_cast<StateMutex>(state->Find("", "m"))->num_waiting();
  }
  void AwaitWaiting(size_t count) {
    while (NumWaiting() != count) std::this_thread::yield();
  }
};

TEST_F(MutexOpsTest, ALockGoesWithItsLastCopy) {
  const Expr mutex = Source("MutexV2", {}, "m");
  const Expr lock = Op("MutexLock", mutex);
  EXPECT_EQ(lock.shape(), Shape());
  EXPECT_EQ(lock.dtype(), DType::kVariant);
  Result<std::vector<Tensor>> held = Run({lock});
  ASSERT_TRUE(held.ok()) << held.status().ToString();
  EXPECT_EQ(state->Find("", "m")->DebugString(), "mutex, held, 0 waiting");
  Tensor copy = (*held)[0];
  held->clear();
  EXPECT_EQ(state->Find("", "m")->DebugString(), "mutex, held, 0 waiting");
  copy = Tensor();
  EXPECT_EQ(state->Find("", "m")->DebugString(), "mutex, free, 0 waiting");
  EXPECT_TRUE(Run({}, {Node("ConsumeMutexLock", {lock})}).ok());
  EXPECT_EQ(state->Find("", "m")->DebugString(), "mutex, free, 0 waiting");
}

// read, add one, write: only one step at a time may be in there.
TEST_F(MutexOpsTest, ConcurrentSectionsDoNotMix) {
  constexpr int kThreads = 4, kSteps = 50;
  const Expr h = Handle({}, DType::kInt32);
  Do(Node("AssignVariableOp", {h, Scalar(0)}));
  const Expr mutex = Source("MutexV2", {}, "m");
  const Expr lock = Op("MutexLock", mutex);
  const Scope inside = s.After({lock.ref().node});
  const Expr value = inside.Add("ReadVariableOp", {h}, {{"dtype", DType::kInt32}});
  const NodeId write = Node("AssignVariableOp", {h, value + Scalar(1)});
  const NodeId consume = Node("ConsumeMutexLock", {lock}, {}, {write});
  ASSERT_TRUE(Run({}, {mutex.ref().node}).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kSteps; ++i) {
        const Result<std::vector<Tensor>> got = Run({}, {consume});
        EXPECT_TRUE(got.ok()) << got.status().ToString();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Expect(Read(h, DType::kInt32), "int32 [] {200}");
}

TEST_F(MutexOpsTest, WaitersAreServedInOrderAndACancelledOneLeaves) {
  const Expr lock = Op("MutexLock", Source("MutexV2", {}, "m"));
  const NodeId consume = Node("ConsumeMutexLock", {lock});
  Result<std::vector<Tensor>> held = Run({lock});
  ASSERT_TRUE(held.ok());
  Cancellation cancellation;
  std::mutex order_mutex;
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      RunOptions options;
      if (t == 1) options.cancellation = &cancellation;
      if (t == 1) {
        ExpectError(Run({}, {consume}, {}, options), Code::kCancelled, "");
        return;
      }
      Result<std::vector<Tensor>> mine = Run({lock});
      ASSERT_TRUE(mine.ok()) << mine.status().ToString();
      const std::lock_guard guard(order_mutex);
      order.push_back(t);
    });
    AwaitWaiting(static_cast<size_t>(t) + 1);
  }
  cancellation.Cancel(Cancelled("enough"));
  threads[1].join();
  EXPECT_EQ(NumWaiting(), 2u);
  held->clear();
  threads[0].join();
  threads[2].join();
  EXPECT_EQ(order, (std::vector<int>{0, 2}));
  EXPECT_EQ(state->Find("", "m")->DebugString(), "mutex, free, 0 waiting");
}

TEST_F(MutexOpsTest, AFailedStepLetsGo) {
  const Expr lock = Op("MutexLock", Source("MutexV2", {}, "m"));
  const Expr bad =
      s.After({lock.ref().node}).Add("CheckNumerics", {Fed(DType::kFloat)}, {{"message", "no"}});
  const NodeId consume = Node("ConsumeMutexLock", {lock}, {}, {bad.ref().node});
  ExpectError(Run({}, {consume}), Code::kInvalidArgument, "");
  EXPECT_EQ(state->Find("", "m")->DebugString(), "mutex, free, 0 waiting");
}

TEST_F(MutexOpsTest, ATimeoutEndsTheWait) {
  const Expr lock = Op("MutexLock", Source("MutexV2", {}, "m"));
  const Result<std::vector<Tensor>> held = Run({lock});
  ASSERT_TRUE(held.ok());
  RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  EXPECT_FALSE(Run({lock}, {}, {}, options).ok());
  EXPECT_EQ(NumWaiting(), 0u);
}

// A mutex outlives its container as long as somebody holds it.
TEST_F(MutexOpsTest, AResetMutexIsReleasedByItsHolder) {
  const Expr lock = Op("MutexLock", Source("MutexV2", {}, "m"));
  Result<std::vector<Tensor>> held = Run({lock});
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE(session->Reset({}).ok());
  EXPECT_TRUE(Run({lock}).ok());  // a new mutex of that name
  held->clear();
}

// One thread: a queue of many must not become a deep stack.
TEST_F(MutexOpsTest, ALongQueueIsServedWithoutRecursion) {
  const Expr mutex = Source("MutexV2", {}, "m");
  std::vector<NodeId> all;
  for (int i = 0; i < 3000; ++i) all.push_back(Node("ConsumeMutexLock", {Op("MutexLock", mutex)}));
  session = NewSession(1);
  const Result<std::vector<Tensor>> got = Run({}, all);
  EXPECT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(state->Find("", "m")->DebugString(), "mutex, free, 0 waiting");
}

TEST_F(MutexOpsTest, WhatIsNoLockIsRefused) {
  const Expr p = Fed(DType::kVariant);
  const NodeId consume = Node("ConsumeMutexLock", {p});
  ExpectError(Run({}, {consume}, {{p, Tensor(DType::kVariant, Shape())}}), Code::kInvalidArgument,
              "Expected input to contain a SharedLockReleaser object, but saw variant: 'nothing'.");
  ExpectError(Run({}, {consume}, {{p, Tensor(DType::kVariant, Shape{2})}}), Code::kInvalidArgument,
              "mutex_lock must be a scalar");
}

}  // namespace
}  // namespace penstock::ops
