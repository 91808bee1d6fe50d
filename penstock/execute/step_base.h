#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "penstock/execute/plan.h"
#include "penstock/execute/step.h"
#include "penstock/execute/step_state.h"

namespace penstock {

// What both ways of running a step share: filling the arguments, reading variables for nodes that
// want values, naming the node that failed, collecting the results.
class StepBase {
 public:
  StepBase(Plan& plan, const StepRequest& request);
  ~StepBase();

 protected:
  // Puts arguments into their slots and memory under the arena.
  Status Begin();
  // Moves the results out.
  Result<std::vector<Tensor>> TakeResults();
  // Empties every slot that a step fills; after an error, when the clear lists did not run.
  void ClearAll();
  // Reads the variables behind the inputs of `node` into `values` and points `inputs` at them.
  Status ReadVariables(const PlanNode& node, Tensor* const* inputs, std::vector<Tensor>* values,
                       std::vector<Tensor*>* pointers);
  // A kernel's call: its context and what that points at. Lives until the kernel has ended.
  struct Call {
    explicit Call(StepResources* resources) : builder(resources) {}
    KernelContextBuilder builder;
    std::vector<Tensor> values;
    std::vector<Tensor*> pointers;
    TraceEvent event;
    StepProgress::Waiting waiting;
    // Of a call that may wait: whether it ended before the kernel returned, on the thread that
    // started it. That thread alone reads and writes `returned`.
    bool EndedAtOnce() const { return starter == std::this_thread::get_id() && !returned; }
    std::thread::id starter = {};
    bool returned = false;
  };
  // Fills the context of a node that runs as it became ready. Fails when a variable that it reads
  // holds nothing.
  Status Prepare(const PlanNode& node, Tensor* const* inputs, Tensor* outputs, uint64_t last_use,
                 int64_t queued, Call* call);
  // Prepares and computes a node that does not wait.
  Status Compute(const PlanNode& node, Tensor* const* inputs, Tensor* outputs, uint64_t last_use,
                 int64_t queued, Call* call);
  // Starts a node that may wait. `done` is called once, on this thread or another.
  void ComputeAsync(const PlanNode& node, Tensor* const* inputs, Tensor* outputs, uint64_t last_use,
                    int64_t queued, std::function<void(Status, Call&)> done);
  // Adds the call to the trace, if there is one.
  void Record(const PlanNode& node, const Tensor* outputs, Call* call);
  int64_t Now() const { return request_.trace == nullptr ? 0 : Trace::Now(); }
  // Whether the node is worth a thread of its own, by the sizes that its inputs turned out to have.
  static bool IsDear(const PlanNode& node, Tensor* const* inputs);
  Status FailedNode(const PlanNode& node, const Status& status) const;
  // The node whose output takes most of the arena. REQUIRES: there is an arena.
  const PlanNode& LargestPlacedNode() const;
  static int64_t OutputBytes(const PlanNode& node, const Tensor* outputs);

  Plan& plan_;
  const StepRequest request_;  // a copy: a step that was started outlives its caller's
  std::unique_ptr<StepState> state_;
  StepResources resources_;
};

}  // namespace penstock
