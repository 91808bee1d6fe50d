#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <set>

#include "penstock/ops/queue/queue.h"
#include "penstock/ops/queue/testing/call.h"
#include "penstock/ops/queue/testing/queue_kinds.h"

// Random sequences of calls, most of which overlap, on a queue and on a plain model of it: after
// each call the same ones have ended, in the same way, with the same elements.

namespace penstock::ops {
namespace {

struct ModelCall {
  enum class Verb { kEnqueue, kDequeue, kClose } verb = Verb::kEnqueue;
  std::vector<int64_t> numbers;  // to enqueue, or dequeued so far
  size_t wanted = 0;             // of a dequeue
  bool up_to = false;
  bool batch = false;
  Code outcome = Code::kUnknown;  // kUnknown: waits
  std::unique_ptr<Call> call;
};

// One element moves at a time, first all that can come in, then all that can leave; everything is
// searched: slow and obvious.
class Model {
 public:
  Model(QueueKind kind, size_t capacity, size_t keep)
      : kind_(kind), capacity_(capacity), keep_(keep) {}

  void Add(ModelCall* call) {
    (call->verb == ModelCall::Verb::kDequeue ? out_ : in_).push_back(call);
    Settle();
  }
  void CancelPending() {
    closed_ = true;
    for (ModelCall* call : in_) call->outcome = Code::kCancelled;
    in_.clear();
    Settle();
  }
  void Cancel(ModelCall* call) {
    if (call->outcome != Code::kUnknown) return;
    std::erase(in_, call);
    std::erase(out_, call);
    if (call->verb == ModelCall::Verb::kDequeue) PutBack(call);
    call->outcome = Code::kAborted;
    Settle();
  }
  size_t size() const { return elements_.size(); }
  bool closed() const { return closed_; }

 private:
  void Settle() {
    for (bool moved = true; moved;) {
      moved = false;
      while (StepIn()) moved = true;
      while (StepOut()) moved = true;
    }
  }
  bool StepIn() {
    if (in_.empty()) return false;
    ModelCall* call = in_.front();
    if (call->verb == ModelCall::Verb::kClose || closed_) {
      call->outcome = closed_ ? Code::kCancelled : Code::kOk;
      closed_ = true;
    } else if (elements_.size() < capacity_) {
      elements_.push_back(call->numbers.front());
      call->numbers.erase(call->numbers.begin());
      if (!call->numbers.empty()) return true;
      call->outcome = Code::kOk;
    } else {
      return false;
    }
    in_.pop_front();
    return true;
  }
  bool StepOut() {
    if (out_.empty()) return false;
    ModelCall* call = out_.front();
    if (call->numbers.size() < call->wanted) {
      if (closed_ && elements_.size() < call->wanted - call->numbers.size()) {
        PutBack(call);
        if (call->up_to && !elements_.empty()) {
          call->wanted = elements_.size();
          return true;
        }
        call->outcome = Code::kOutOfRange;
        out_.pop_front();
        return true;
      }
      if (elements_.size() <= (closed_ ? 0 : keep_)) return false;
      const auto next = std::min_element(elements_.begin(), elements_.end(),
                                         [this](int64_t a, int64_t b) { return Before(a, b); });
      call->numbers.push_back(*next);
      elements_.erase(next);
      return true;
    }
    call->outcome = Code::kOk;
    out_.pop_front();
    return true;
  }
  // Numbers grow as they come, so equal priorities are told apart by the number itself.
  bool Before(int64_t a, int64_t b) const {
    if (kind_ != QueueKind::kPriority) return false;  // the first is the oldest
    return std::pair(a % 7, a) < std::pair(b % 7, b);
  }
  void PutBack(ModelCall* call) {
    elements_.insert(elements_.begin(), call->numbers.begin(), call->numbers.end());
    call->numbers.clear();
  }

  const QueueKind kind_;
  const size_t capacity_;
  const size_t keep_;
  std::deque<int64_t> elements_;
  std::deque<ModelCall*> in_, out_;
  bool closed_ = false;
};

class QueueModelTest : public testing::TestWithParam<QueueKind> {
 protected:
  int Draw(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }

  void Start(Queue& queue, Model& model, ModelCall& call) {
    const QueueKind kind = GetParam();
    call.call = std::make_unique<Call>(NumComponents(kind));
    KernelContext& context = call.call->context();
    switch (call.verb) {
      case ModelCall::Verb::kEnqueue: {
        std::vector<Tensor> elements;
        for (const int64_t number : call.numbers) {
          for (Tensor& tensor : NumberTuple(kind, number)) elements.push_back(tensor);
        }
        if (call.batch) {
          queue.EnqueueMany(context, std::move(elements), call.call->Done());
        } else {
          queue.Enqueue(context, elements, call.call->Done());
        }
        break;
      }
      case ModelCall::Verb::kDequeue:
        if (call.batch) {
          queue.DequeueMany(context, static_cast<int64_t>(call.wanted), call.up_to,
                            call.call->Done());
        } else {
          queue.Dequeue(context, call.call->Done());
        }
        break;
      case ModelCall::Verb::kClose:
        queue.Close(context, false, call.call->Done());
    }
    model.Add(&call);
  }

  ModelCall Draw() {
    ModelCall call;
    const int dice = Draw(100);
    call.batch = Draw(3) == 0;
    if (dice < 50) {
      for (int n = call.batch ? 1 + Draw(5) : 1; n > 0; --n) call.numbers.push_back(next_++);
    } else if (dice < 99) {
      call.verb = ModelCall::Verb::kDequeue;
      call.wanted = call.batch ? 1 + static_cast<size_t>(Draw(6)) : 1;
      call.up_to = call.batch && Draw(2) == 0;
    } else if (Draw(4) == 0) {
      call.verb = ModelCall::Verb::kClose;
    } else {
      call.numbers.push_back(next_++);
      call.batch = false;
    }
    return call;
  }

  // True when the call ended as the model says.
  void Compare(ModelCall& call) {
    if (call.outcome == Code::kUnknown) {
      ASSERT_FALSE(call.call->finished());
      return;
    }
    ASSERT_EQ(call.call->times_done.load(), 1);
    const Code want = call.outcome == Code::kAborted ? Code::kCancelled : call.outcome;
    ASSERT_EQ(call.call->status.code(), want) << call.call->status.ToString();
    if (call.verb != ModelCall::Verb::kDequeue || want != Code::kOk) return;
    const std::vector<int64_t> got =
        NumbersIn(GetParam(), call.call->output(NumComponents(GetParam()) - 1), call.batch);
    if (GetParam() != QueueKind::kShuffle) {
      ASSERT_EQ(got, call.numbers);
    } else {
      ASSERT_EQ(got.size(), call.numbers.size());
    }
    for (const int64_t number : got) ASSERT_TRUE(seen_.insert(number).second) << number;
  }

  std::mt19937_64 random_{42};
  int64_t next_ = 0;
  std::set<int64_t> seen_;
};

TEST_P(QueueModelTest, StressInterleavedCallsDoAsThePlainModel) {
  for (int round = 0; round < 300; ++round) {
    const int capacity = 1 + Draw(8);
    const int keep = GetParam() == QueueKind::kShuffle ? Draw(capacity) : 0;
    const auto queue = MakeNumberQueue(GetParam(), capacity, keep);
    Model model(GetParam(), static_cast<size_t>(capacity), static_cast<size_t>(keep));
    std::deque<ModelCall> calls;
    std::vector<ModelCall*> open;
    for (int i = 0; i < 100; ++i) {
      const int dice = Draw(100);
      if (dice < 6 && !open.empty()) {
        ModelCall* victim = open[static_cast<size_t>(Draw(static_cast<int>(open.size())))];
        victim->call->cancellation.Cancel(Cancelled("stop"));
        model.Cancel(victim);
      } else if (dice == 6 && Draw(10) == 0) {
        Call close(0);
        queue->Close(close.context(), true, close.Done());
        ASSERT_TRUE(close.finished());
        model.CancelPending();
      } else {
        calls.push_back(Draw());
        Start(*queue, model, calls.back());
        open.push_back(&calls.back());
      }
      ASSERT_EQ(queue->size(), static_cast<int64_t>(model.size()));
      ASSERT_EQ(queue->is_closed(), model.closed());
      for (ModelCall* call : open) {
        Compare(*call);
        if (HasFatalFailure()) return;
      }
      std::erase_if(open, [](ModelCall* call) { return call->outcome != Code::kUnknown; });
    }
    // No waiter is lost: each ends when it is told to.
    for (ModelCall* call : open) {
      call->call->cancellation.Cancel(Cancelled("the end"));
      ASSERT_EQ(call->call->times_done.load(), 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, QueueModelTest, testing::ValuesIn(AllQueueKinds()),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace penstock::ops
