#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "penstock/core/cancellation.h"
#include "penstock/execute/plan.h"
#include "penstock/execute/step_progress.h"
#include "penstock/execute/trace.h"

namespace penstock {

// What one step is given.
struct StepRequest {
  std::span<const Tensor> args;  // checked against Plan::arg by the caller
  std::span<Tensor> taken_args;  // in place of `args`: emptied by the step
  Cancellation* cancellation = nullptr;
  StateRegistry* state = nullptr;
  FunctionRunner* functions = nullptr;
  Rendezvous* rendezvous = nullptr;
  int64_t step_id = 0;
  int32_t call_depth = 0;
  Trace* trace = nullptr;            // null: not traced
  StepProgress* progress = nullptr;  // null: not kept
};
using StepDone = std::function<void(Result<std::vector<Tensor>>)>;

// Runs the plan to its end and returns its results. The first node that fails names itself in the
// error, fails the step once and cancels the rest. Blocks the calling thread, which takes part in
// the work.
Result<std::vector<Tensor>> RunStep(Plan& plan, const StepRequest& request);

// The same without waiting: `done` gets the results, before StartStep returns or later and on
// another thread. The plan, and what the request points at but for the arguments, live until then.
void StartStep(Plan& plan, const StepRequest& request, StepDone done);

}  // namespace penstock
