#include "penstock/ops/readers/reader_state.h"

#include <atomic>

namespace penstock::ops {

class ReaderState::Call : public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<ReaderState> reader, KernelContext& context, Queue& queue, int64_t limit,
       std::function<void(Result<Records>)> done)
      : reader_(std::move(reader)),
        context_(context),
        queue_(queue),
        limit_(static_cast<size_t>(limit)),
        done_(std::move(done)) {}

  // Goes on until the call has ended (true) or waits for the queue (false).
  bool Advance() {
    while (records_.keys.size() < limit_) {
      std::shared_ptr<WorkReader> work;
      {
        MutexLock lock(reader_->mu_);
        work = reader_->work_;
      }
      if (work == nullptr) {
        if (!TakeWork()) return false;
        if (!status_.ok()) break;
        continue;
      }
      std::string key, value;
      const Result<bool> more = work->Read(&key, &value);
      MutexLock lock(reader_->mu_);
      if (more.ok() && *more) {
        ++reader_->records_produced_;
        records_.keys.push_back(std::move(key));
        records_.values.push_back(std::move(value));
        continue;
      }
      if (reader_->work_ == work) reader_->work_.reset();
      ++reader_->units_completed_;
      if (!more.ok()) {
        status_ = more.status();
        break;
      }
    }
    return true;
  }

  void Finish() {
    // What was read before an error or the end is given; the error comes again.
    if (!records_.keys.empty()) {
      done_(std::move(records_));
    } else {
      done_(status_);
    }
  }

 private:
  // Asks the queue for a work unit and opens it; false when the answer is still to come.
  bool TakeWork() {
    handed_over_.store(false, std::memory_order_relaxed);
    queue_.Dequeue(context_, [call = shared_from_this()](Status status) {
      call->status_ = status.ok() ? call->OpenWork() : std::move(status);
      // acq_rel, here and below: who goes on sees what the other did.
      if (!call->handed_over_.exchange(true, std::memory_order_acq_rel)) return;
      if (call->status_.ok() && !call->Advance()) return;
      const std::shared_ptr<ReaderState> reader = call->reader_;
      call->Finish();
      reader->Leave();
    });
    return handed_over_.exchange(true, std::memory_order_acq_rel);
  }

  Status OpenWork() {
    const Tensor name = context_.output(0);
    TRY_ASSIGN(std::shared_ptr<WorkReader> opened, reader_->open_(name.scalar<std::string>()));
    MutexLock lock(reader_->mu_);
    reader_->work_ = std::move(opened);
    return OkStatus();
  }

  const std::shared_ptr<ReaderState> reader_;
  KernelContext& context_;
  Queue& queue_;
  const size_t limit_;
  const std::function<void(Result<Records>)> done_;
  Records records_;
  Status status_;
  // Set by the first of two: the thread that leaves the queue's call behind, and its answer.
  std::atomic<bool> handed_over_{false};
};

void ReaderState::Read(KernelContext& context, Queue& queue, int64_t limit,
                       std::function<void(Result<Records>)> done) {
  if (queue.spec().dtypes != std::vector<DType>{DType::kString} ||
      (queue.spec().shapes.size() == 1 && queue.spec().shapes[0].has_rank() &&
       queue.spec().shapes[0].rank() != 0)) {
    return done(
        InvalidArgument("a reader takes the names of its work from a queue of strings, got {}",
                        queue.DebugString()));
  }
  Enter(std::make_shared<Call>(shared_from_this(), context, queue, limit, std::move(done)));
}

void ReaderState::Enter(std::shared_ptr<Call> call) {
  {
    MutexLock lock(mu_);
    line_.push_back(call);
    if (line_.size() > 1) return;
  }
  if (!call->Advance()) return;
  call->Finish();
  Leave();
}

void ReaderState::Leave() {
  while (true) {
    std::shared_ptr<Call> next;
    {
      MutexLock lock(mu_);
      line_.pop_front();
      if (line_.empty()) return;
      next = line_.front();
    }
    if (!next->Advance()) return;
    next->Finish();
  }
}

int64_t ReaderState::records_produced() const {
  MutexLock lock(mu_);
  return records_produced_;
}

int64_t ReaderState::units_completed() const {
  MutexLock lock(mu_);
  return units_completed_;
}

void ReaderState::Reset() {
  MutexLock lock(mu_);
  work_.reset();
  records_produced_ = 0;
  units_completed_ = 0;
}

}  // namespace penstock::ops
