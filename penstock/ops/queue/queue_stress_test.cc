#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <thread>

#include "penstock/ops/queue/queue.h"
#include "penstock/ops/queue/testing/call.h"
#include "penstock/ops/queue/testing/queue_kinds.h"

// Many threads on one queue: what went in comes out, once, and everybody is answered.

namespace penstock::ops {
namespace {

class QueueStressTest : public testing::TestWithParam<QueueKind> {
 protected:
  static constexpr int kThreads = 4;
  static constexpr int kCapacity = 50;

  // One client: as many calls as told, a window of which overlap. Numbers that went in are counted
  // in `entered`, those that came out in `left`.
  class Client {
   public:
    Client(QueueKind kind, Queue& queue, uint64_t seed, std::vector<std::atomic<int>>& entered,
           std::vector<std::atomic<int>>& left)
        : kind_(kind), queue_(queue), random_(seed), entered_(entered), left_(left) {
      for (int i = 0; i < kWindow; ++i) {
        puts_.push_back(std::make_unique<Slot>());
        gets_.push_back(std::make_unique<Slot>());
      }
    }
    // `cancel`: cancels some calls that wait. Numbers are first, first + step, ...
    void Run(int calls, int64_t first, int64_t step, bool cancel) {
      int64_t number = first;
      for (int done = 0; done < calls;) {
        const uint64_t dice = random_();
        const bool put = dice % 2 == 0;
        Slot& slot = *(put ? puts_ : gets_)[dice / 2 % kWindow];
        if (slot.call != nullptr && !slot.call->finished()) {
          if (cancel && dice / 64 % 8 == 0) slot.call->cancellation.Cancel(Cancelled("stop"));
          std::this_thread::yield();
          continue;
        }
        Collect(slot);
        slot.call = std::make_unique<Call>(NumComponents(kind_));
        slot.put = put;
        if (put) {
          slot.number = number;
          number += step;
          std::vector<Tensor> tuple = NumberTuple(kind_, slot.number);
          queue_.Enqueue(slot.call->context(), tuple, slot.call->Done());
        } else if (slot.batch = dice / 1024 % 4 == 0; slot.batch) {
          queue_.DequeueMany(slot.call->context(), 1 + static_cast<int64_t>(dice / 4096 % 8),
                             dice / 65536 % 2 == 0, slot.call->Done());
        } else {
          queue_.Dequeue(slot.call->context(), slot.call->Done());
        }
        ++done;
      }
    }
    // Waits for the last calls. REQUIRES: the queue is being closed.
    void Finish() {
      for (auto& slot : puts_) Collect(*slot);
      for (auto& slot : gets_) Collect(*slot);
    }

   private:
    static constexpr int kWindow = 16;
    struct Slot {
      std::unique_ptr<Call> call;
      bool put = false;
      bool batch = false;
      int64_t number = 0;
    };

    void Collect(Slot& slot) {
      if (slot.call == nullptr) return;
      const bool ok = slot.call->Wait().ok();
      EXPECT_EQ(slot.call->times_done.load(), 1);
      if (ok && slot.put) entered_[static_cast<size_t>(slot.number)].fetch_add(1);
      if (ok && !slot.put) {
        const Tensor& output = slot.call->output(NumComponents(kind_) - 1);
        for (const int64_t number : NumbersIn(kind_, output, slot.batch)) {
          left_[static_cast<size_t>(number)].fetch_add(1);
        }
      }
      slot.call.reset();
    }

    const QueueKind kind_;
    Queue& queue_;
    std::mt19937_64 random_;
    std::vector<std::atomic<int>>& entered_;
    std::vector<std::atomic<int>>& left_;
    std::vector<std::unique_ptr<Slot>> puts_, gets_;
  };

  void RunClients(int calls_each, bool cancel) {
    const auto queue = MakeNumberQueue(GetParam(), kCapacity, kCapacity / 4);
    std::vector<std::atomic<int>> entered(static_cast<size_t>(calls_each) * kThreads);
    std::vector<std::atomic<int>> left(entered.size());
    std::deque<Client> clients;
    for (uint64_t t = 0; t < kThreads; ++t) {
      clients.emplace_back(GetParam(), *queue, t, entered, left);
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] { clients[t].Run(calls_each, t, kThreads, cancel); });
    }
    for (std::thread& thread : threads) thread.join();
    Call close(0);
    queue->Close(close.context(), false, close.Done());
    while (true) {
      Call rest(NumComponents(GetParam()));
      queue->DequeueMany(rest.context(), 10, true, rest.Done());
      if (!rest.Wait().ok()) break;
      const Tensor& output = rest.output(NumComponents(GetParam()) - 1);
      for (const int64_t number : NumbersIn(GetParam(), output, true)) left[number].fetch_add(1);
    }
    EXPECT_TRUE(close.Wait().ok());
    for (Client& client : clients) client.Finish();
    EXPECT_EQ(queue->size(), 0);
    int64_t total = 0;
    for (size_t i = 0; i < entered.size(); ++i) {
      ASSERT_EQ(entered[i].load(), left[i].load()) << i;
      total += left[i].load();
    }
    EXPECT_GT(total, calls_each / 4);
  }
};

TEST_P(QueueStressTest, ConcurrentClientsLoseNothing) { RunClients(5000, false); }
TEST_P(QueueStressTest, ConcurrentCancellationsLoseNothing) { RunClients(5000, true); }

// Each consumer sees the numbers of each producer in the order they were put in.
TEST_P(QueueStressTest, ConcurrentOrderHolds) {
  if (GetParam() == QueueKind::kShuffle || GetParam() == QueueKind::kPriority) return;
  constexpr int64_t kEach = 5000;
  const auto queue = MakeNumberQueue(GetParam(), kCapacity);
  std::vector<std::thread> producers, consumers;
  for (int64_t p = 0; p < 2; ++p) {
    producers.emplace_back([&, p] {
      for (int64_t i = 0; i < kEach; ++i) {
        Call call(0);
        std::vector<Tensor> tuple = NumberTuple(GetParam(), p * kEach + i);
        queue->Enqueue(call.context(), tuple, call.Done());
        ASSERT_TRUE(call.Wait().ok());
      }
    });
    consumers.emplace_back([&] {
      int64_t last[] = {-1, -1};
      while (true) {
        Call call;
        queue->Dequeue(call.context(), call.Done());
        if (!call.Wait().ok()) break;
        const int64_t number = *call.output().data<int64_t>();
        ASSERT_GT(number, last[number / kEach]);
        last[number / kEach] = number;
      }
    });
  }
  for (std::thread& thread : producers) thread.join();
  Call close(0);
  queue->Close(close.context(), false, close.Done());
  EXPECT_TRUE(close.Wait().ok());
  for (std::thread& thread : consumers) thread.join();
}

// A call that is cancelled while it is served ends once, and takes an element or none.
TEST_P(QueueStressTest, ConcurrentCancelAndServeEndOnce) {
  const auto queue = MakeNumberQueue(GetParam(), -1);
  int64_t taken = 0;
  constexpr int kRounds = 2000;
  for (int i = 0; i < kRounds; ++i) {
    Call get(NumComponents(GetParam()));
    queue->Dequeue(get.context(), get.Done());
    std::thread canceller([&] { get.cancellation.Cancel(Cancelled("stop")); });
    Call put(0);
    std::vector<Tensor> tuple = NumberTuple(GetParam(), i);
    queue->Enqueue(put.context(), tuple, put.Done());
    canceller.join();
    ASSERT_TRUE(put.Wait().ok());
    taken += get.Wait().ok();
    ASSERT_EQ(get.times_done.load(), 1);
    ASSERT_EQ(queue->size(), i + 1 - taken);
    if (queue->size() > 0) {
      Call rest(NumComponents(GetParam()));
      queue->Dequeue(rest.context(), rest.Done());
      ASSERT_TRUE(rest.Wait().ok());
      ++taken;
    }
  }
}

// Too long for the thread sanitizer's short suite, which goes by names.
class QueueMillionTest : public QueueStressTest {};
#ifdef PENSTOCK_SANITIZED
constexpr int kCallsOfAClient = 10'000;
#else
constexpr int kCallsOfAClient = 250'000;  // of four
#endif
TEST_P(QueueMillionTest, MillionCallsLoseNothing) { RunClients(kCallsOfAClient, true); }

INSTANTIATE_TEST_SUITE_P(Kinds, QueueMillionTest, testing::ValuesIn(AllQueueKinds()),
                         [](const auto& info) { return std::string(ToString(info.param)); });
INSTANTIATE_TEST_SUITE_P(Kinds, QueueStressTest, testing::ValuesIn(AllQueueKinds()),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace penstock::ops
