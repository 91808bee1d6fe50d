#include "penstock/ops/queue/queue.h"

#include <gtest/gtest.h>

#include <memory>

#include "penstock/ops/queue/testing/call.h"
#include "penstock/ops/queue/testing/queue_kinds.h"

namespace penstock::ops {
namespace {

class QueueTest : public testing::Test {
 protected:
  std::shared_ptr<Queue> Fifo(int64_t capacity) {
    return MakeNumberQueue(QueueKind::kFifo, capacity);
  }
  std::unique_ptr<Call> Enqueue(Queue& queue, std::vector<int64_t> numbers) {
    auto call = std::make_unique<Call>(0);
    std::vector<Tensor> elements;
    for (const int64_t number : numbers) {
      for (Tensor& tensor : NumberTuple(queue.spec().kind, number)) elements.push_back(tensor);
    }
    if (numbers.size() == 1) {
      queue.Enqueue(call->context(), elements, call->Done());
    } else {
      queue.EnqueueMany(call->context(), std::move(elements), call->Done());
    }
    return call;
  }
  std::unique_ptr<Call> Dequeue(Queue& queue) {
    auto call = std::make_unique<Call>(NumComponents(queue.spec().kind));
    queue.Dequeue(call->context(), call->Done());
    return call;
  }
  std::unique_ptr<Call> DequeueMany(Queue& queue, int64_t n, bool up_to = false) {
    auto call = std::make_unique<Call>(NumComponents(queue.spec().kind));
    queue.DequeueMany(call->context(), n, up_to, call->Done());
    return call;
  }
  std::unique_ptr<Call> Close(Queue& queue, bool cancel_pending = false) {
    auto call = std::make_unique<Call>(0);
    queue.Close(call->context(), cancel_pending, call->Done());
    return call;
  }
  // What came of a call: its last output, its error, or that it waits.
  std::string Outcome(const Call& call, int output = 0) {
    if (!call.finished()) return "waits";
    EXPECT_EQ(call.times_done.load(), 1);
    return call.status.ok() ? call.output(output).ToString() : call.status.ToString();
  }
  void ExpectOk(const Call& call) { EXPECT_TRUE(call.finished() && call.status.ok()); }
  void ExpectCode(const Call& call, Code code) {
    EXPECT_EQ(call.times_done.load(), 1);
    EXPECT_EQ(call.status.code(), code) << call.status.ToString();
  }
};

TEST_F(QueueTest, FirstInIsFirstOut) {
  const auto queue = Fifo(-1);
  for (int64_t i = 0; i < 40; ++i) ExpectOk(*Enqueue(*queue, {i}));
  for (int64_t i = 0; i < 40; ++i) {
    EXPECT_EQ(Outcome(*Dequeue(*queue)), "int64 [] {" + std::to_string(i) + "}");
  }
  EXPECT_EQ(queue->size(), 0);
}

TEST_F(QueueTest, BothSidesAreServedInTheOrderTheyCame) {
  const auto queue = Fifo(1);
  const auto first = Dequeue(*queue), second = Dequeue(*queue);
  EXPECT_EQ(Outcome(*first), "waits");
  ExpectOk(*Enqueue(*queue, {1}));
  EXPECT_EQ(Outcome(*first), "int64 [] {1}");
  EXPECT_EQ(Outcome(*second), "waits");
  ExpectOk(*Enqueue(*queue, {2}));
  EXPECT_EQ(Outcome(*second), "int64 [] {2}");
  ExpectOk(*Enqueue(*queue, {3}));
  const auto four = Enqueue(*queue, {4}), five = Enqueue(*queue, {5});
  EXPECT_FALSE(four->finished() || five->finished());
  EXPECT_EQ(Outcome(*Dequeue(*queue)), "int64 [] {3}");
  EXPECT_TRUE(four->finished());
  EXPECT_FALSE(five->finished());
  EXPECT_EQ(Outcome(*DequeueMany(*queue, 2)), "int64 [2] {4, 5}");
  ExpectOk(*five);
}

// A call that could be served waits behind one that cannot.
TEST_F(QueueTest, NobodyOvertakes) {
  const auto queue = Fifo(-1);
  const auto batch = DequeueMany(*queue, 3);
  const auto single = Dequeue(*queue);
  ExpectOk(*Enqueue(*queue, {1, 2}));
  EXPECT_EQ(Outcome(*batch), "waits");
  EXPECT_EQ(Outcome(*single), "waits");
  ExpectOk(*Enqueue(*queue, {3, 4}));
  EXPECT_EQ(Outcome(*batch), "int64 [3] {1, 2, 3}");
  EXPECT_EQ(Outcome(*single), "int64 [] {4}");
}

TEST_F(QueueTest, BatchesLargerThanTheQueuePassThroughIt) {
  const auto queue = Fifo(2);
  const auto put = Enqueue(*queue, {1, 2, 3, 4, 5});
  EXPECT_EQ(Outcome(*put), "waits");
  EXPECT_EQ(queue->size(), 2);
  const auto get = DequeueMany(*queue, 4);
  EXPECT_EQ(Outcome(*get), "int64 [4] {1, 2, 3, 4}");
  ExpectOk(*put);
  EXPECT_EQ(queue->size(), 1);
}

TEST_F(QueueTest, CloseWaitsForPendingElements) {
  const auto queue = Fifo(1);
  ExpectOk(*Enqueue(*queue, {1}));
  const auto pending = Enqueue(*queue, {2, 3});
  const auto close = Close(*queue);
  const auto late = Enqueue(*queue, {4});
  EXPECT_FALSE(pending->finished() || close->finished() || late->finished());
  EXPECT_FALSE(queue->is_closed());
  EXPECT_EQ(Outcome(*Dequeue(*queue)), "int64 [] {1}");
  EXPECT_FALSE(close->finished());
  EXPECT_EQ(Outcome(*Dequeue(*queue)), "int64 [] {2}");
  ExpectOk(*pending);
  ExpectOk(*close);
  EXPECT_EQ(Outcome(*late), "CANCELLED: FIFOQueue 'q' is closed.");
  EXPECT_EQ(Outcome(*Dequeue(*queue)), "int64 [] {3}");
  EXPECT_EQ(Outcome(*Dequeue(*queue)),
            "OUT_OF_RANGE: FIFOQueue 'q' is closed and has insufficient elements (requested 1, "
            "current size 0)");
  EXPECT_EQ(Outcome(*Close(*queue)), "CANCELLED: Queue 'q' is already closed.");
}

TEST_F(QueueTest, CloseMayCancelPendingElements) {
  const auto queue = Fifo(1);
  ExpectOk(*Enqueue(*queue, {1}));
  const auto pending = Enqueue(*queue, {2});
  ExpectOk(*Close(*queue, true));
  ExpectCode(*pending, Code::kCancelled);
  EXPECT_TRUE(queue->is_closed());
  EXPECT_EQ(Outcome(*Dequeue(*queue)), "int64 [] {1}");
  ExpectCode(*Dequeue(*queue), Code::kOutOfRange);
  ExpectOk(*Close(*queue, true));
}

TEST_F(QueueTest, CloseEndsWaitingDequeues) {
  const auto queue = Fifo(-1);
  const auto batch = DequeueMany(*queue, 3), rest = DequeueMany(*queue, 3, true),
             single = Dequeue(*queue);
  ExpectOk(*Enqueue(*queue, {1, 2}));
  EXPECT_FALSE(batch->finished() || rest->finished() || single->finished());
  ExpectOk(*Close(*queue));
  EXPECT_EQ(Outcome(*batch),
            "OUT_OF_RANGE: FIFOQueue 'q' is closed and has insufficient elements (requested 3, "
            "current size 2)");
  EXPECT_EQ(Outcome(*rest), "int64 [2] {1, 2}");
  ExpectCode(*single, Code::kOutOfRange);
  ExpectCode(*DequeueMany(*queue, 1, true), Code::kOutOfRange);
}

TEST_F(QueueTest, CancellingEndsExactlyOneWaiter) {
  const auto queue = Fifo(-1);
  const auto a = Dequeue(*queue), b = Dequeue(*queue), c = Dequeue(*queue);
  b->cancellation.Cancel(DeadlineExceeded("too late"));
  EXPECT_EQ(Outcome(*b), "DEADLINE_EXCEEDED: too late");
  EXPECT_FALSE(a->finished() || c->finished());
  ExpectOk(*Enqueue(*queue, {1, 2}));
  EXPECT_EQ(Outcome(*a), "int64 [] {1}");
  EXPECT_EQ(Outcome(*c), "int64 [] {2}");
  a->cancellation.Cancel(Cancelled("after the end"));
  EXPECT_EQ(a->times_done.load(), 1);
}

TEST_F(QueueTest, CallsOfOneStepAreCancelledTogether) {
  const auto queue = Fifo(-1);
  Call step;
  Status first, second;
  queue->Dequeue(step.context(), [&](Status status) { first = std::move(status); });
  const auto other = Dequeue(*queue);
  queue->Dequeue(step.context(), [&](Status status) { second = std::move(status); });
  step.cancellation.Cancel(Cancelled("stop"));
  EXPECT_EQ(first.ToString(), "CANCELLED: stop");
  EXPECT_EQ(second.ToString(), "CANCELLED: stop");
  EXPECT_FALSE(other->finished());
  ExpectOk(*Enqueue(*queue, {1}));
  EXPECT_EQ(Outcome(*other), "int64 [] {1}");
  // The step is over: what waits for it is refused.
  Status third;
  queue->Dequeue(step.context(), [&](Status status) { third = std::move(status); });
  EXPECT_EQ(third.ToString(), "CANCELLED: stop");
}

TEST_F(QueueTest, ACancelledBatchGivesItsElementsBackInOrder) {
  for (const QueueKind kind : {QueueKind::kFifo, QueueKind::kPadding, QueueKind::kPriority}) {
    const auto queue = MakeNumberQueue(kind, -1);
    const auto batch = DequeueMany(*queue, 5);
    ExpectOk(*Enqueue(*queue, {1, 2, 8}));
    EXPECT_EQ(queue->size(), 0);
    batch->cancellation.Cancel(Cancelled("stop"));
    ExpectCode(*batch, Code::kCancelled);
    EXPECT_EQ(queue->size(), 3);
    const std::vector<int64_t> want = kind == QueueKind::kPriority ? std::vector<int64_t>{1, 8, 2}
                                                                   : std::vector<int64_t>{1, 2, 8};
    for (const int64_t number : want) {
      const auto got = Dequeue(*queue);
      EXPECT_EQ(NumbersIn(kind, got->output(NumComponents(kind) - 1), false)[0], number);
    }
  }
}

TEST_F(QueueTest, ACancelledBatchLetsTheNextGoOn) {
  const auto queue = Fifo(2);
  const auto batch = DequeueMany(*queue, 5);
  const auto next = DequeueMany(*queue, 2);
  ExpectOk(*Enqueue(*queue, {1, 2, 3}));
  EXPECT_FALSE(batch->finished() || next->finished());
  batch->cancellation.Cancel(Cancelled("stop"));
  EXPECT_EQ(Outcome(*next), "int64 [2] {1, 2}");
}

TEST_F(QueueTest, ACancelledEnqueueLeavesWhatIsIn) {
  const auto queue = Fifo(2);
  const auto put = Enqueue(*queue, {1, 2, 3});
  const auto next = Enqueue(*queue, {4});
  put->cancellation.Cancel(Cancelled("stop"));
  ExpectCode(*put, Code::kCancelled);
  EXPECT_EQ(Outcome(*DequeueMany(*queue, 3)), "int64 [3] {1, 2, 4}");
  ExpectOk(*next);
}

TEST_F(QueueTest, AnEmptyBatchIsAlwaysAtHand) {
  const auto queue = Fifo(-1);
  const auto waiting = Dequeue(*queue);
  EXPECT_EQ(Outcome(*DequeueMany(*queue, 0)), "int64 [0] {}");
  EXPECT_FALSE(waiting->finished());
  ExpectOk(*Close(*queue));
  EXPECT_EQ(Outcome(*DequeueMany(*queue, 0, true)), "int64 [0] {}");
  const auto padding = MakeNumberQueue(QueueKind::kPadding, -1);
  EXPECT_EQ(Outcome(*DequeueMany(*padding, 0)), "int64 [0,0] {}");
}

TEST_F(QueueTest, PaddingFillsWithZeros) {
  const auto queue = MakeNumberQueue(QueueKind::kPadding, -1);
  ExpectOk(*Enqueue(*queue, {1, 3, 2}));
  EXPECT_EQ(Outcome(*DequeueMany(*queue, 2)), "int64 [2,2] {1, 1, 3, 0}");
  EXPECT_EQ(Outcome(*Dequeue(*queue)), "int64 [3] {2, 2, 2}");
}

TEST_F(QueueTest, EqualPrioritiesLeaveInOrder) {
  const auto queue = MakeNumberQueue(QueueKind::kPriority, -1);
  ExpectOk(*Enqueue(*queue, {9, 2, 1, 16, 8}));
  EXPECT_EQ(Outcome(*DequeueMany(*queue, 5), 1), "int64 [5] {1, 8, 9, 2, 16}");
}

TEST_F(QueueTest, ShufflingKeepsSomeBackUntilTheEnd) {
  const auto queue = MakeNumberQueue(QueueKind::kShuffle, 10, 2);
  ExpectOk(*Enqueue(*queue, {1, 2, 3}));
  const auto first = Dequeue(*queue), second = Dequeue(*queue);
  EXPECT_TRUE(first->finished());
  EXPECT_FALSE(second->finished());
  ExpectOk(*Close(*queue));
  ExpectOk(*second);
  const auto third = Dequeue(*queue);
  ExpectOk(*third);
  EXPECT_EQ(*first->output().data<int64_t>() + *second->output().data<int64_t>() +
                *third->output().data<int64_t>(),
            6);
  EXPECT_EQ(Outcome(*Dequeue(*queue)),
            "OUT_OF_RANGE: RandomShuffleQueue 'q' is closed and has insufficient elements "
            "(requested 1, current size 0)");
}

TEST_F(QueueTest, ShufflingChangesTheOrderAndFollowsItsSeed) {
  std::vector<int64_t> numbers(50);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  std::string orders[2];
  for (std::string& order : orders) {
    const auto queue = MakeNumberQueue(QueueKind::kShuffle, -1);
    ExpectOk(*Enqueue(*queue, numbers));
    for (size_t i = 0; i < numbers.size(); ++i) order += Outcome(*Dequeue(*queue));
  }
  EXPECT_EQ(orders[0], orders[1]);
  const auto sorted = Fifo(-1);
  ExpectOk(*Enqueue(*sorted, numbers));
  std::string in_order;
  for (size_t i = 0; i < numbers.size(); ++i) in_order += Outcome(*Dequeue(*sorted));
  EXPECT_NE(orders[0], in_order);
}

TEST_F(QueueTest, TellsAboutItself) {
  const auto queue = Fifo(2);
  const auto put = Enqueue(*queue, {1, 2, 3});
  EXPECT_EQ(queue->DebugString(),
            "FIFOQueue 'q' with 2 elements, capacity 2, 1 waiting to enqueue, 0 to dequeue, open");
  EXPECT_EQ(queue->MemoryBytes(), 16u);
  put->cancellation.Cancel(Cancelled("stop"));
  const auto priority = MakeNumberQueue(QueueKind::kPriority, -1);
  ExpectOk(*Enqueue(*priority, {1, 2}));
  ExpectOk(*Dequeue(*priority));
  EXPECT_EQ(priority->MemoryBytes(), 16u);
  ExpectOk(*Dequeue(*priority));
  ExpectOk(*Close(*priority));
  EXPECT_EQ(priority->DebugString(),
            "PriorityQueue 'q' with 0 elements, capacity unbounded, 0 waiting to enqueue, 0 to "
            "dequeue, closed");
}

// A batch that finds no memory is an error, not a loss.
TEST_F(QueueTest, ABatchWithoutMemoryGivesItsElementsBack) {
  class NoMemory final : public Allocator {
    void* Allocate(size_t) override { return nullptr; }
    void Deallocate(void*, size_t) override {}
  } no_memory;
  const auto queue = Fifo(-1);
  ExpectOk(*Enqueue(*queue, {1, 2}));
  StepResources step;
  step.allocator = &no_memory;
  Tensor output;
  KernelContextBuilder builder(&step);
  builder.Outputs(&output, 1, false);
  Status status;
  queue->DequeueMany(builder.context(), 2, false, [&](Status got) { status = std::move(got); });
  EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.ToString();
  EXPECT_EQ(Outcome(*DequeueMany(*queue, 2)), "int64 [2] {1, 2}");
}

// Who waits keeps the queue, and leaves no trace of itself.
TEST_F(QueueTest, AWaitedForQueueStays) {
  std::weak_ptr<Queue> weak;
  const auto call = std::make_unique<Call>(1);
  {
    const auto queue = Fifo(-1);
    weak = queue;
    queue->Dequeue(call->context(), call->Done());
  }
  EXPECT_FALSE(weak.expired());
  call->cancellation.Cancel(Cancelled("stop"));
  ExpectCode(*call, Code::kCancelled);
  EXPECT_TRUE(weak.expired());
}

}  // namespace
}  // namespace penstock::ops
