#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "penstock/core/tensor.h"
#include "penstock/execute/frame_plan.h"

namespace penstock {

struct FrameRun;

// The values and counters of one iteration of a loop; the root frame has one for the whole step.
struct Iteration {
  FrameRun* frame = nullptr;
  const FramePlan::Frame* plan = nullptr;
  int64_t number = 0;
  int32_t busy = 0;                 // nodes made ready and not ended, and loops inside it
  Tensor* slots = nullptr;          // the step's own for the root
  std::vector<Tensor> own_slots;    // behind `slots` for a loop
  std::vector<Tensor*> inputs;      // where each input of each node is found
  std::vector<FlowCount> counts;    // per node
  std::vector<int32_t> readers;     // per slot: inputs still to read it
  std::vector<FrameRun*> children;  // the loops inside that are under way
};

// One execution of a loop.
struct FrameRun {
  int32_t index = 0;            // into FramePlan::frames
  Iteration* parent = nullptr;  // the iteration that entered it; null for the root
  int32_t enters_left = 0;      // values that have not come in yet
  int64_t num_started = 0;      // iterations
  std::vector<Tensor> invariants;
  std::vector<uint8_t> invariant_is_dead;
  std::vector<uint8_t> exited;        // per Exit: a live value has left
  std::deque<Iteration*> iterations;  // under way, oldest first, numbered without gaps
  struct Deferred {
    Deferred(int32_t from, Tensor tensor) : node(from), value(std::move(tensor)) {}
    int32_t node;
    Tensor value;
  };
  std::vector<Deferred> deferred;  // NextIteration values whose iteration may not start yet

  // Iterations that were used before: their inputs point into this run.
  std::vector<std::unique_ptr<Iteration>> made;
  std::vector<Iteration*> spare;
};

// The loops of one step: made once, used again by every iteration and every later step, so that a
// loop runs in flat memory. Threads: belongs to one step.
class FrameStore {
 public:
  // `slots` are the root's values and the plan's constants.
  FrameStore(const FramePlan& plan, Tensor* slots);
  ~FrameStore();

  // The root's iteration with its counters set back.
  Iteration* StartRoot();
  FrameRun* StartFrame(int32_t index, Iteration* parent);
  // Adds the next iteration of a loop.
  Iteration* StartIteration(FrameRun* run);
  // Ends the oldest iteration and drops its values.
  void EndOldest(FrameRun* run);
  void EndFrame(FrameRun* run);
  // Drops what an error left behind.
  void Clear();
  // A loop that was started and has not ended, or null.
  const FrameRun* FirstUnfinished() const;

 private:
  std::unique_ptr<Iteration> NewIteration(FrameRun* run) const;
  void Reset(Iteration* iteration) const;

  const FramePlan& plan_;
  Tensor* const slots_;
  FrameRun root_;
  std::vector<std::unique_ptr<FrameRun>> made_;
  std::vector<std::vector<FrameRun*>> idle_;  // per frame of the plan
};

}  // namespace penstock
