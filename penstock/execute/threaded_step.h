#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/execute/step_base.h"

namespace penstock {

// A step that threads of the pool take part in: its caller waits for it, or is told when it has
// ended. Threads: Run blocks its caller; the rest is for the pool's threads.
class ThreadedStep : protected StepBase {
 public:
  Result<std::vector<Tensor>> Run();
  // Starts a step of that kind, which deletes itself before it calls `done`.
  template <class Step>
  static void Start(Plan& plan, const StepRequest& request, StepDone done) {
    ThreadedStep* step = new Step(plan, request);
    step->when_done_ = std::move(done);
    step->Launch();
  }

 protected:
  ThreadedStep(Plan& plan, const StepRequest& request) : StepBase(plan, request) {}
  virtual ~ThreadedStep() = default;

  // Begins, and runs on this thread what can run here.
  virtual void Launch() = 0;
  // The results, or the first error, after the last node has ended.
  virtual Result<std::vector<Tensor>> TakeOutcome() = 0;
  // To be called once, when the last node has ended. The step may be gone afterwards.
  void Finish();

 private:
  StepDone when_done_;  // of a step that was started; empty when its caller waits
  Mutex ended_mu_;
  CondVar ended_changed_;
  // Set under ended_mu_. Release and acquire: who helps reads it without, then takes the outcome.
  std::atomic<bool> ended_{false};
};

}  // namespace penstock
