#include "penstock/execute/step.h"

#include "penstock/execute/frame_step.h"
#include "penstock/execute/parallel_step.h"
#include "penstock/execute/sequential_step.h"
#include "penstock/execute/step_state.h"

namespace penstock {

Result<std::vector<Tensor>> RunStep(Plan& plan, const StepRequest& request) {
  if (request.cancellation != nullptr && request.cancellation->IsCancelled())
    return request.cancellation->status();
  if (plan.schedule().sequential) return SequentialStep(plan, request).Run();
  if (plan.has_frames()) return FrameStep(plan, request).Run();
  return ParallelStep(plan, request).Run();
}

void StartStep(Plan& plan, const StepRequest& request, StepDone done) {
  if (request.cancellation != nullptr && request.cancellation->IsCancelled()) {
    done(request.cancellation->status());
  } else if (plan.schedule().sequential) {
    done(SequentialStep(plan, request).Run());
  } else if (plan.has_frames()) {
    ThreadedStep::Start<FrameStep>(plan, request, std::move(done));
  } else {
    ThreadedStep::Start<ParallelStep>(plan, request, std::move(done));
  }
}

}  // namespace penstock
