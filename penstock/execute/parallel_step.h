#pragma once

#include <atomic>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/execute/threaded_step.h"

namespace penstock {

// Runs each node as soon as its inputs are there, in a plan without branches or loops. Cheap nodes
// run on the thread that made them ready, dear ones go to the pool, a kernel that waits holds no
// thread. Lives until the last node has ended.
class ParallelStep final : public ThreadedStep {
 public:
  ParallelStep(Plan& plan, const StepRequest& request) : ThreadedStep(plan, request) {}

 private:
  void Launch() override;
  Result<std::vector<Tensor>> TakeOutcome() override;
  void Reset();
  // Runs `node` and what becomes ready on this thread.
  void Process(int32_t node, int64_t queued);
  // Starts an asynchronous node, which ends now or later. What is ready when it ends at once goes
  // to `mine`.
  void StartAsync(int32_t index, int64_t queued, std::vector<int32_t>* mine);
  // Lets the consumers know and adds those that are ready to `ready`.
  void Complete(int32_t index, const Status& status, std::vector<int32_t>* ready);
  // Sends the dear ones to the pool; keeps the rest, and one dear one when there is nothing else,
  // in `mine`.
  void Dispatch(const std::vector<int32_t>& ready, std::vector<int32_t>* mine);
  void HandOut(int32_t node, int64_t queued);
  void ReleaseInputs(const PlanNode& node);
  uint64_t LastUses(const PlanNode& node) const;
  void Fail(const Status& status);
  // Ends one count of `unfinished_`. The step may be gone afterwards.
  void NodeEnded();

  std::atomic<int64_t> unfinished_{0};  // nodes made ready and not ended, and the launch
  std::atomic<bool> failed_{false};
  Mutex mu_;
  Status status_ GUARDED_BY(mu_);
};

}  // namespace penstock
