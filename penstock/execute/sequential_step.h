#pragma once

#include <vector>

#include "penstock/execute/step_base.h"

namespace penstock {

// Runs the nodes of a plan one after the other on the calling thread: no counters, no queue. Nodes
// that can use more threads do so inside.
class SequentialStep : private StepBase {
 public:
  SequentialStep(Plan& plan, const StepRequest& request) : StepBase(plan, request) {}
  Result<std::vector<Tensor>> Run();

 private:
  template <bool kWatched>
  Status RunNodes();
};

}  // namespace penstock
