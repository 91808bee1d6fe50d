#include "penstock/ops/functions/function_loop.h"

#include "penstock/ops/functions/called_function.h"

namespace penstock {

Result<std::vector<Tensor>> FunctionLoop::Run() {
  if (!Advance()) return Internal("a loop that cannot wait did");
  if (!status_.ok()) return status_;
  return std::move(values_);
}

void FunctionLoop::Start(Done done) {
  done_ = std::move(done);
  if (Advance()) Finish();
}

void FunctionLoop::Finish() {
  const Done done = std::move(done_);
  Result<std::vector<Tensor>> outcome =
      status_.ok() ? Result<std::vector<Tensor>>(std::move(values_)) : status_;
  delete this;
  done(std::move(outcome));
}

bool FunctionLoop::Advance() {
  while (phase_ != Phase::kEnded) {
    if (step_.cancellation != nullptr && step_.cancellation->IsCancelled()) {
      status_ = step_.cancellation->status();
      return true;
    }
    if (!CallNext()) return false;
    TakeAnswer();
  }
  return true;
}

bool FunctionLoop::CallNext() {
  RunnableFunction* function = cond_;
  CallArgs args;
  if (phase_ == Phase::kTest && cond_ != nullptr) {
    args.shared = values_;
  } else {
    if (phase_ == Phase::kTest) {  // of a For
      if (delta_ > 0 ? next_ >= limit_ : next_ <= limit_) {
        phase_ = Phase::kEnded;
        return true;
      }
      phase_ = Phase::kBody;
      values_.insert(values_.begin(), Tensor::Scalar(static_cast<int32_t>(next_)));
      next_ += delta_;
    }
    function = body_;
    args.taken = values_;
  }
  if (!function->may_wait()) {
    answer_ = function->Run(step_, args);
    return true;
  }
  handed_over_.store(false, std::memory_order_relaxed);
  function->Start(step_, args, [this](Result<std::vector<Tensor>> answer) {
    answer_ = std::move(answer);
    // acq_rel, here and below: who goes on sees the answer and the state of the loop.
    if (!handed_over_.exchange(true, std::memory_order_acq_rel)) return;
    TakeAnswer();
    if (Advance()) Finish();
  });
  return handed_over_.exchange(true, std::memory_order_acq_rel);
}

void FunctionLoop::TakeAnswer() {
  if (phase_ == Phase::kEnded) return;
  if (!answer_.ok()) {
    status_ = answer_.status();
    phase_ = Phase::kEnded;
    return;
  }
  if (phase_ == Phase::kBody) {
    values_.swap(*answer_);
    phase_ = Phase::kTest;
    return;
  }
  const Result<bool> again = IsTrue((*answer_)[0]);
  if (!again.ok()) status_ = again.status();
  phase_ = again.ok() && *again ? Phase::kBody : Phase::kEnded;
}

}  // namespace penstock
