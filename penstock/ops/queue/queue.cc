#include "penstock/ops/queue/queue.h"

#include <algorithm>
#include <utility>

#include "penstock/core/format.h"
#include "penstock/ops/queue/batch.h"

namespace penstock::ops {
namespace {

std::unique_ptr<ElementStore> MakeStore(const QueueSpec& spec) {
  switch (spec.kind) {
    case QueueKind::kShuffle:
      return MakeShuffleStore(spec.num_components(), spec.seed, spec.seed2);
    case QueueKind::kPriority:
      return MakePriorityStore(spec.num_components());
    case QueueKind::kFifo:
    case QueueKind::kPadding:
      break;
  }
  return MakeFifoStore(spec.num_components());
}

}  // namespace

// Waits for space, with elements of which [0, next_) are in.
class Queue::EnqueueWaiter final : public Waiter {
 public:
  EnqueueWaiter(Queue& queue, KernelContext& context, std::vector<Tensor> tensors, Done done)
      : Waiter(context, std::move(done)), queue_(queue), tensors_(std::move(tensors)) {}

  Progress Try() override REQUIRES_LOCK(queue_.mu_) {
    if (queue_.closed_) return Fail(queue_.ClosedToEnqueue());
    const size_t before = next_;
    for (; next_ < tensors_.size() && queue_.HasSpace(); next_ += queue_.spec_.dtypes.size()) {
      queue_.store_->Push(tensors_.data() + next_);
    }
    if (next_ >= tensors_.size()) return Progress::kServed;
    return next_ == before ? Progress::kStuck : Progress::kMoved;
  }

 private:
  Queue& queue_;
  std::vector<Tensor> tensors_;
  size_t next_ = 0;
};

// Waits for one element.
class Queue::DequeueWaiter final : public Waiter {
 public:
  DequeueWaiter(Queue& queue, KernelContext& context, Done done)
      : Waiter(context, std::move(done)), queue_(queue) {}

  Progress Try() override REQUIRES_LOCK(queue_.mu_) {
    if (queue_.Available() > 0) {
      (void)queue_.store_->Pop(&context().output(0));
      return Progress::kServed;
    }
    return queue_.closed_ ? Fail(queue_.TooFew(1)) : Progress::kStuck;
  }

 private:
  Queue& queue_;
};

// Waits for n elements, and holds those it has.
class Queue::BatchWaiter final : public Waiter {
 public:
  BatchWaiter(Queue& queue, KernelContext& context, int64_t n, bool up_to, Done done)
      : Waiter(context, std::move(done)),
        queue_(queue),
        width_(queue.spec_.dtypes.size()),
        wanted_(n),
        up_to_(up_to) {}

  Progress Try() override REQUIRES_LOCK(queue_.mu_) {
    const int64_t before = taken();
    if (queue_.closed_ && queue_.store_->size() < wanted_ - taken()) {
      GiveBack();
      if (!up_to_ || queue_.store_->size() == 0) return Fail(queue_.TooFew(wanted_));
      wanted_ = queue_.store_->size();
    }
    while (taken() < wanted_ && queue_.Available() > 0) {
      tensors_.resize(tensors_.size() + width_);
      places_.push_back(queue_.store_->Pop(tensors_.data() + tensors_.size() - width_));
    }
    if (taken() == wanted_) return Progress::kServed;
    return taken() == before ? Progress::kStuck : Progress::kMoved;
  }

  void GiveBack() override REQUIRES_LOCK(queue_.mu_) {
    for (; !places_.empty(); places_.pop_back()) {
      queue_.store_->PutBack(tensors_.data() + tensors_.size() - width_, places_.back());
      tensors_.resize(tensors_.size() - width_);
    }
  }

  Status Deliver() override {
    Status status = Stack();
    if (status.ok()) return status;
    WaiterList served;
    {
      MutexLock lock(queue_.mu_);
      GiveBack();
      queue_.Serve(served);
    }
    Finish(served);
    return status;
  }

 private:
  int64_t taken() const { return static_cast<int64_t>(places_.size()); }
  Status Stack() {
    const std::span<const Tensor> all(tensors_);
    for (size_t c = 0; c < width_; ++c) {
      TRY_ASSIGN(Tensor batch,
                 StackElements(context(), queue_.spec_.dtypes[c], queue_.spec_.shapes[c],
                               all.empty() ? all : all.subspan(c), width_));
      context().SetOutput(static_cast<int>(c), std::move(batch));
    }
    return OkStatus();
  }

  Queue& queue_;
  const size_t width_;
  int64_t wanted_;
  const bool up_to_;
  std::vector<Tensor> tensors_;
  std::vector<uint64_t> places_;
};

// Stands behind the elements that came before it.
class Queue::CloseWaiter final : public Waiter {
 public:
  CloseWaiter(Queue& queue, KernelContext& context, Done done)
      : Waiter(context, std::move(done)), queue_(queue) {}

  Progress Try() override REQUIRES_LOCK(queue_.mu_) {
    if (queue_.closed_) {
      return Fail(Cancelled("Queue '{}' is already closed.", Printable(queue_.spec_.name)));
    }
    queue_.closed_ = true;
    return Progress::kServed;
  }

 private:
  Queue& queue_;
};

Queue::Queue(QueueSpec spec)
    : Waitable({&enqueuers_, &dequeuers_}), spec_(std::move(spec)), store_(MakeStore(spec_)) {}

void Queue::Enqueue(KernelContext& context, std::span<Tensor> tuple, Done done) {
  bool waits = false;
  WaiterList served;
  {
    MutexLock lock(mu_);
    waits = closed_ || !enqueuers_.empty() || !HasSpace();
    if (!waits) {
      store_->Push(tuple.data());
      if (!dequeuers_.empty()) Serve(served);
    }
  }
  if (waits) {
    EnqueueMany(context, {std::move_iterator(tuple.begin()), std::move_iterator(tuple.end())},
                std::move(done));
    return;
  }
  Finish(served);
  done(OkStatus());
}

void Queue::EnqueueMany(KernelContext& context, std::vector<Tensor> elements, Done done) {
  Start(std::make_unique<EnqueueWaiter>(*this, context, std::move(elements), std::move(done)),
        &enqueuers_);
}

void Queue::Dequeue(KernelContext& context, Done done) {
  bool waits = false;
  WaiterList served;
  {
    MutexLock lock(mu_);
    waits = !dequeuers_.empty() || Available() <= 0;
    if (!waits) {
      (void)store_->Pop(&context.output(0));
      if (!enqueuers_.empty()) Serve(served);
    }
  }
  if (waits) {
    Start(std::make_unique<DequeueWaiter>(*this, context, std::move(done)), &dequeuers_);
    return;
  }
  Finish(served);
  done(OkStatus());
}

void Queue::DequeueMany(KernelContext& context, int64_t n, bool up_to, Done done) {
  auto waiter = std::make_unique<BatchWaiter>(*this, context, n, up_to, std::move(done));
  if (n > 0) return Start(std::move(waiter), &dequeuers_);
  // An empty batch is always at hand: it stands in no line.
  WaiterList served;
  served.PushBack(std::move(waiter));
  Finish(served);
}

void Queue::Close(KernelContext& context, bool cancel_pending, Done done) {
  if (!cancel_pending) {
    Start(std::make_unique<CloseWaiter>(*this, context, std::move(done)), &enqueuers_);
    return;
  }
  WaiterList served;
  {
    MutexLock lock(mu_);
    closed_ = true;
    FailAll(enqueuers_, Cancelled("Enqueue operation was cancelled"), served);
    Serve(served);
  }
  Finish(served);
  done(OkStatus());
}

void Queue::Insert(std::vector<Tensor> elements, WaiterList& served) {
  MutexLock lock(mu_);
  for (size_t i = 0; i < elements.size(); i += spec_.dtypes.size()) {
    store_->Push(elements.data() + i);
  }
  Serve(served);
}

void Queue::CloseNow(WaiterList& served) {
  MutexLock lock(mu_);
  closed_ = true;
  Serve(served);
}

int64_t Queue::size() const {
  MutexLock lock(mu_);
  return store_->size();
}

bool Queue::is_closed() const {
  MutexLock lock(mu_);
  return closed_;
}

std::string Queue::DebugString() const {
  MutexLock lock(mu_);
  return Format("{} '{}' with {} elements, capacity {}, {} waiting to enqueue, {} to dequeue, {}",
                spec_.kind, Printable(spec_.name), store_->size(),
                spec_.capacity < 0 ? "unbounded" : std::to_string(spec_.capacity),
                enqueuers_.size(), dequeuers_.size(), closed_ ? "closed" : "open");
}

size_t Queue::MemoryBytes() const {
  MutexLock lock(mu_);
  size_t bytes = 0;
  store_->ForEach([&](const Tensor& tensor) { bytes += tensor.bytes(); });
  return bytes;
}

Status Queue::ClosedToEnqueue() const {
  return Cancelled("{} '{}' is closed.", spec_.kind, Printable(spec_.name));
}

Status Queue::TooFew(int64_t requested) const {
  return OutOfRange(
      "{} '{}' is closed and has insufficient elements (requested {}, current size {})", spec_.kind,
      Printable(spec_.name), requested, store_->size());
}

}  // namespace penstock::ops
