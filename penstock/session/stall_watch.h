#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/session/deadline_timer.h"
#include "penstock/session/step_table.h"

namespace penstock {

// The time that PENSTOCK_STALL_REPORT_MS gives; 0 when it is not set. A value that is no positive
// number of milliseconds is reported to the log and ignored.
std::chrono::milliseconds StallLimitFromEnvironment();

// Prints a dump to the log when a step has made no progress for a time: once a stall, again when it
// moved and stalled anew. Has a thread only while steps run.
// Threads: all methods may be called concurrently.
class StallWatch {
 public:
  // Watches nothing when `limit` is not positive. `tables` and `dump` outlive it.
  StallWatch(std::chrono::milliseconds limit, std::vector<StepTable*> tables,
             std::function<std::string()> dump)
      : limit_(limit), tables_(std::move(tables)), dump_(std::move(dump)) {}

  ~StallWatch();

  bool on() const { return limit_.count() > 0; }
  // A step was added to one of the tables.
  void StepAdded();

 private:
  void Look();
  void Arm() REQUIRES_LOCK(mu_);

  const std::chrono::milliseconds limit_;
  const std::vector<StepTable*> tables_;
  const std::function<std::string()> dump_;
  Mutex mu_;
  bool armed_ GUARDED_BY(mu_) = false;
  bool stopped_ GUARDED_BY(mu_) = false;
  DeadlineTimer timer_;  // last: its thread uses the rest
};

}  // namespace penstock
