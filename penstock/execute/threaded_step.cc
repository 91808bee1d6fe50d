#include "penstock/execute/threaded_step.h"

namespace penstock {

Result<std::vector<Tensor>> ThreadedStep::Run() {
  Launch();
  auto has_ended = [this] {
    MutexLock lock(ended_mu_);
    return ended_;
  };
  // Lend a hand with what is queued before going to sleep.
  while (!has_ended() && plan_.device().pool()->RunOne()) {
  }
  {
    MutexLock lock(ended_mu_);
    while (!ended_) ended_changed_.Wait(ended_mu_);
  }
  return TakeOutcome();
}

void ThreadedStep::Finish() {
  if (when_done_) {
    const StepDone done = std::move(when_done_);
    Result<std::vector<Tensor>> outcome = TakeOutcome();
    delete this;
    done(std::move(outcome));
    return;
  }
  MutexLock lock(ended_mu_);
  ended_ = true;
  ended_changed_.NotifyAll();
}

}  // namespace penstock
