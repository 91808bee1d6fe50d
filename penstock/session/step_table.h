#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/cancellation.h"
#include "penstock/core/mutex.h"
#include "penstock/execute/plan.h"
#include "penstock/execute/step_progress.h"

namespace penstock {

// A step in flight. Lives where it was started: on the stack of Run, or in a partial run.
struct ActiveStep {
  using Clock = std::chrono::steady_clock;

  // Constant while the step is in a table.
  int64_t id = 0;
  const Plan* plan = nullptr;
  std::string_view what;  // what it was asked for; outlives it
  Clock::time_point started = Clock::now();
  bool counted = false;  // `progress` is kept

  Cancellation cancellation;
  StepProgress progress;

  // Of the table that it is in: when a watcher last saw it move. Whoever adds it may set seen_at.
  int64_t seen_changes = -1;
  Clock::time_point seen_at = started;
  bool reported = false;
};

// "step 3 for 1.2 s: fetches y:0; 5 of 8 nodes ended; waiting: q_dequeue = QueueDequeueV2 for 1.1
// s"
std::string DescribeStep(const ActiveStep& step, ActiveStep::Clock::time_point now);
// "340 ms", "12.3 s".
std::string DurationText(std::chrono::steady_clock::duration duration);

// The steps of a session that are in flight.
// Threads: all methods may be called concurrently. A step is not touched after Remove has returned.
class StepTable {
 public:
  // Called after each Add, with no lock held. REQUIRES: nothing was added yet.
  void OnAdd(std::function<void()> added) { added_ = std::move(added); }
  // FailedPrecondition when closed.
  Status Add(ActiveStep* step);
  void Remove(ActiveStep* step);
  // Cancels the steps in flight with `why` and refuses new ones.
  // REQUIRES: no step is removed by the thread that its cancellation runs on.
  void Close(const Status& why);
  // Waits until Close was called and no step is left.
  void WaitUntilEmpty();
  bool empty() const;

  // One line a step.
  std::string DebugString() const;
  // Notes which steps have moved since the last call; true when one has not for `limit` and was not
  // yet reported. It counts as reported from then on until it moves.
  bool FindStalled(ActiveStep::Clock::time_point now, std::chrono::milliseconds limit);

 private:
  std::function<void()> added_;  // constant once steps are added
  mutable Mutex mu_;
  CondVar changed_;
  std::vector<ActiveStep*> steps_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
};

}  // namespace penstock
