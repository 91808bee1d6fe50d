#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/graph/graph.h"

namespace penstock {

// What happened to one node of one step. Times in nanoseconds of the steady clock.
struct TraceEvent {
  NodeId node = kNoNode;
  int32_t thread = 0;
  int64_t queued = 0;
  int64_t started = 0;
  int64_t ended = 0;
  int64_t bytes = 0;  // of the outputs
};

// The record of a step.
// Threads: Add may be called concurrently; reading needs the step to have ended.
class Trace {
 public:
  static int64_t Now();
  // A small number for the calling thread.
  static int32_t ThreadNumber();

  void Add(const TraceEvent& event) {
    MutexLock lock(mu_);
    events_.push_back(event);
  }
  const std::vector<TraceEvent>& events() const { return events_; }

  // For chrome://tracing and Perfetto.
  std::string ToChromeJson(const Graph& graph, std::string_view device) const;
  // A serialized StepStats message, as TensorFlow's tools read it.
  std::string ToStepStats(const Graph& graph, std::string_view device) const;

 private:
  Mutex mu_;
  std::vector<TraceEvent> events_;
};

}  // namespace penstock
