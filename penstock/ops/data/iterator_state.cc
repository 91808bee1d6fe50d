#include "penstock/ops/data/iterator_state.h"

#include <atomic>

namespace penstock::ops {

// Asks an iterator for one element, again whenever it was pending and woke.
class IteratorState::Call : public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<IteratorState> owner, std::shared_ptr<DatasetIterator> iterator,
       Request request)
      : owner_(std::move(owner)), iterator_(std::move(iterator)), request_(std::move(request)) {}

  // True when it was answered; `next` is then who is to be served.
  bool Advance(std::optional<Request>* next) {
    Puller puller{.step = request_.step, .wake = [weak = weak_from_this()] {
                    if (const std::shared_ptr<Call> call = weak.lock()) call->Wake();
                  }};
    while (true) {
      phase_.store(kAsking, std::memory_order_relaxed);
      Element element;
      const Result<Pulled> pulled = Pull(*iterator_, puller, &element);
      if (!pulled.ok() || *pulled != Pulled::kPending) {
        Finish(pulled, std::move(element), next);
        return true;
      }
      // acq_rel, here and in Wake: who goes on sees what the other left.
      Phase asking = kAsking;
      self_ = shared_from_this();  // until it wakes
      if (phase_.compare_exchange_strong(asking, kWaiting, std::memory_order_acq_rel)) return false;
      self_.reset();
    }
  }

 private:
  enum Phase { kAsking, kWaiting, kWoken };

  void Wake() {
    if (phase_.exchange(kWoken, std::memory_order_acq_rel) != kWaiting) return;
    const std::shared_ptr<Call> keep = std::move(self_);
    std::optional<Request> next;
    if (Advance(&next) && next) owner_->Serve(*std::move(next));
  }

  void Finish(const Result<Pulled>& pulled, Element element, std::optional<Request>* next) {
    Result<std::optional<Element>> answer =
        pulled.ok() ? (*pulled == Pulled::kEnd ? std::optional<Element>()
                                               : std::optional(std::move(element)))
                    : Result<std::optional<Element>>(pulled.status());
    iterator_.reset();
    const Done done = std::move(request_.done);
    *next = owner_->TakeNext();
    done(std::move(answer));
  }

  const std::shared_ptr<IteratorState> owner_;
  std::shared_ptr<DatasetIterator> iterator_;
  Request request_;
  std::atomic<Phase> phase_{kAsking};
  std::shared_ptr<Call> self_;
};

void IteratorState::Restart(const Dataset& dataset) {
  std::shared_ptr<DatasetIterator> iterator = dataset.MakeIterator();
  MutexLock lock(mu_);
  iterator_.swap(iterator);
}

void IteratorState::StartOnce(const Dataset& dataset) {
  std::shared_ptr<DatasetIterator> iterator = dataset.MakeIterator();
  MutexLock lock(mu_);
  if (iterator_ == nullptr) iterator_.swap(iterator);
}

bool IteratorState::initialized() const {
  MutexLock lock(mu_);
  return iterator_ != nullptr;
}

void IteratorState::GetNext(const StepResources& step, Done done) {
  Request request{&step, std::move(done)};
  {
    MutexLock lock(mu_);
    if (busy_) {
      line_.push_back(std::move(request));
      return;
    }
    busy_ = true;
  }
  Serve(std::move(request));
}

std::optional<IteratorState::Request> IteratorState::TakeNext() {
  MutexLock lock(mu_);
  if (line_.empty()) {
    busy_ = false;
    return std::nullopt;
  }
  Request request = std::move(line_.front());
  line_.pop_front();
  return request;
}

void IteratorState::Serve(Request request) {
  std::optional<Request> next = std::move(request);
  while (next) {
    std::shared_ptr<DatasetIterator> iterator;
    {
      MutexLock lock(mu_);
      iterator = iterator_;
    }
    if (iterator == nullptr) {
      const Done done = std::move(next->done);
      next = TakeNext();
      done(FailedPrecondition(
          "GetNext() failed because the iterator has not been initialized. Ensure that you have "
          "run the initializer operation for this iterator before getting the next element."));
      continue;
    }
    const auto call =
        std::make_shared<Call>(shared_from_this(), std::move(iterator), *std::move(next));
    next.reset();
    if (!call->Advance(&next)) return;
  }
}

}  // namespace penstock::ops
