#pragma once

#include <memory>
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
  Status FailedNode(const PlanNode& node, const Status& status) const;
  // The node whose output takes most of the arena. REQUIRES: there is an arena.
  const PlanNode& LargestPlacedNode() const;
  int64_t OutputBytes(const PlanNode& node) const;

  Plan& plan_;
  const StepRequest request_;  // a copy: a step that was started outlives its caller's
  std::unique_ptr<StepState> state_;
  StepResources resources_;
};

}  // namespace penstock
