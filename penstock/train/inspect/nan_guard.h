#pragma once

#include <cstdint>
#include <memory>

#include "penstock/train/loop/hook.h"

namespace penstock {

// Looks at the loss of each step. When it is not finite, goes back to where the step began, finds
// the first node whose value is not finite, and names it with its op and the user's line:
//
//   loss is nan at step 12: the first value that is not finite is that of {{node Log}} = Log
//   (model.cc:42): 3 inf and 0 nan among 320; input 0 lies in [0, 0.93]
//
// A node that was not finite in the step before (a mask of -inf) is above suspicion. The variables
// are left as they were before the step.
//
// To be able to go back, the guard keeps the variables of a few steps ago and what was fed since: a
// second copy of the state, and one copying of it every `snapshot_every` steps.
struct NanGuard {
  enum class Action {
    kThrow,      // ends the run as failed
    kSkipBatch,  // says it in the log and goes on with the next batch
  };

  Action action = Action::kThrow;
  int64_t snapshot_every = 20;
  int64_t max_skipped = 10;  // in one run; then it ends as failed
};
std::unique_ptr<Hook> MakeHook(const NanGuard& settings);

}  // namespace penstock
