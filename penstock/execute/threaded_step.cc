#include "penstock/execute/threaded_step.h"

namespace penstock {

Result<std::vector<Tensor>> ThreadedStep::Run() {
  Launch();
  // The caller counts among the pool's threads: were it to sleep, what is left would have one less.
  plan_.device().pool()->HelpUntil([this] { return ended_.load(std::memory_order_acquire); });
  {
    // Also after having helped: Finish() must be through with this step.
    MutexLock lock(ended_mu_);
    while (!ended_.load(std::memory_order_relaxed)) ended_changed_.Wait(ended_mu_);
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
  ended_.store(true, std::memory_order_release);
  ended_changed_.NotifyAll();
  plan_.device().pool()->Wake();
}

}  // namespace penstock
