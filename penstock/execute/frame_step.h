#pragma once

#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/execute/frame_store.h"
#include "penstock/execute/threaded_step.h"

namespace penstock {

// Runs a plan with branches and loops. A node runs when its inputs of its iteration are there; a
// node with a dead input (the branch not taken) does not run, and its outputs are dead. Iterations
// overlap, as many as the loop allows. Nodes that only direct values (Switch, Merge, Enter, ...),
// dead ones and element-wise ones on a few numbers are done at once, under the step's lock; other
// kernels run outside of it.
// See Note [frames] in frame_step.cc.
class FrameStep final : public ThreadedStep {
 public:
  FrameStep(Plan& plan, const StepRequest& request);

 private:
  // A kernel to run.
  struct Task {
    int32_t node;
    Iteration* iteration;
    uint64_t last_use;  // inputs that no other node will read
  };

  void Launch() override;
  Result<std::vector<Tensor>> TakeOutcome() override;
  void Process(Task task, int64_t queued);
  // Starts a kernel that may wait. What is ready when it ends at once goes to `mine`; true when
  // that ended the step.
  bool StartAsync(const Task& task, int64_t queued, std::vector<Task>* mine);
  void HandOut(const Task& task, int64_t queued);
  // What follows from the end of a kernel; adds what is ready to `ready`.
  // True: that was the last one, and the step has ended.
  bool Complete(const Task& task, const Status& status, uint64_t dead_outputs,
                std::vector<Task>* ready);
  // Sends the dear ones to the pool and keeps the rest in `mine`.
  void Dispatch(const std::vector<Task>& ready, std::vector<Task>* mine);

  // ---- values, with the lock held ----
  // Lets the consumers of `node` know, in the iteration where its values went.
  void Deliver(int32_t node, Iteration* to, bool all_dead, uint64_t dead_outputs)
      REQUIRES_LOCK(mu_);
  void Arrive(const FlowEdge& edge, Iteration* to, bool dead, bool from_enter) REQUIRES_LOCK(mu_);
  void MakeReady(int32_t node, Iteration* iteration) REQUIRES_LOCK(mu_);
  bool HasSmallInputs(int32_t node, const Iteration& iteration) const REQUIRES_LOCK(mu_);
  void ReleaseInputs(int32_t node, Iteration* iteration) REQUIRES_LOCK(mu_);
  void ReleaseInput(int32_t node, int32_t input, Iteration* iteration) REQUIRES_LOCK(mu_);
  uint64_t LastUses(int32_t node, const Iteration& iteration) const REQUIRES_LOCK(mu_);
  bool IsLastUse(int32_t node, int32_t input, const Iteration& iteration) const REQUIRES_LOCK(mu_);
  // Moves or copies an input's value.
  Status Forward(int32_t node, int32_t input, Iteration* iteration, Tensor* to) REQUIRES_LOCK(mu_);

  // ---- nodes that direct values, with the lock held ----
  // Does all of them that are ready, and moves the kernels among the ready nodes to `ready`.
  void Settle(std::vector<Task>* ready) REQUIRES_LOCK(mu_);
  Status Direct(const Task& task) REQUIRES_LOCK(mu_);
  Status PassOn(const Task& task) REQUIRES_LOCK(mu_);
  Status DoSwitch(int32_t node, Iteration* iteration) REQUIRES_LOCK(mu_);
  Status DoMerge(int32_t node, Iteration* iteration) REQUIRES_LOCK(mu_);
  Status DoEnter(int32_t node, Iteration* iteration, bool dead) REQUIRES_LOCK(mu_);
  Status DoExit(int32_t node, Iteration* iteration) REQUIRES_LOCK(mu_);
  Status DoNextIteration(int32_t node, Iteration* iteration) REQUIRES_LOCK(mu_);
  Iteration* BeginNext(FrameRun* run) REQUIRES_LOCK(mu_);
  void BringInvariants(FrameRun* run, Iteration* iteration) REQUIRES_LOCK(mu_);
  bool MayBeginNext(const FrameRun& run) const REQUIRES_LOCK(mu_);
  void EndNode(Iteration* iteration) REQUIRES_LOCK(mu_);
  void EndIterations(FrameRun* run) REQUIRES_LOCK(mu_);
  void EndFrame(FrameRun* run) REQUIRES_LOCK(mu_);
  void Fail(const Status& status) REQUIRES_LOCK(mu_);
  Status FailedIn(int32_t node, const Iteration& iteration, const Status& status) const;

  // What the plan says, at hand.
  const PlanNode* const nodes_;
  const FlowNode* const flows_;
  const FlowEdge* const edges_;
  const FramePlan& frames_;

  Mutex mu_;
  std::vector<Task> directed_ GUARDED_BY(mu_);  // ready nodes that need no kernel
  std::vector<Task> kernels_ GUARDED_BY(mu_);   // ready nodes that do
  int64_t active_ GUARDED_BY(mu_) = 0;          // kernels handed out and not ended
  bool cancel_rest_ GUARDED_BY(mu_) = false;    // failed just now: wake what waits in the step
  Status status_ GUARDED_BY(mu_);
};

}  // namespace penstock
