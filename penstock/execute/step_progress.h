#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/graph/graph.h"

namespace penstock {

// How far a step has come: for dumps and for finding steps that stall. The executor writes, when it
// was given one; anybody reads while the step runs.
// Threads: all methods may be called concurrently, but for NodesEnded (see there).
class StepProgress {
 public:
  using Clock = std::chrono::steady_clock;

  // A node that waits outside the step's threads: an entry of a list, in memory of the executor.
  struct Waiting {
    NodeId node = kNoNode;
    Clock::time_point since;
    Waiting* next = nullptr;
    Waiting** link = nullptr;  // what points at this entry; null: it is in no list
  };

  // The node begins to run. In a loop a node may begin, wait and end several times at once.
  void NodeStarted(NodeId node) { started_.store(node, std::memory_order_relaxed); }
  // An asynchronous node was handed its continuation; called before its kernel. REQUIRES: the entry
  // stays where it is until NodeResumed.
  void NodeWaits(NodeId node, Waiting* entry);
  // Its continuation was called.
  void NodeResumed(Waiting* entry);
  // A node ended, whether it ran, failed or was skipped.
  // Relaxed: a count for a person, which publishes nothing.
  void NodeEnded() { ended_.fetch_add(1, std::memory_order_relaxed); }
  // The same for a step that runs its nodes in sequence: so many have ended. Costs a store.
  // Threads: one writer, and no NodeEnded beside it.
  void NodesEnded(int64_t count) { ended_.store(count, std::memory_order_relaxed); }

  int64_t ended() const { return ended_.load(std::memory_order_relaxed); }
  // The node that began last; kNoNode before the first.
  NodeId last_started() const { return started_.load(std::memory_order_relaxed); }
  // Longest wait first.
  std::vector<Waiting> WaitingNodes() const;
  // Changes whenever a node ends, begins to wait or goes on.
  int64_t Changes() const;

 private:
  std::atomic<int64_t> ended_{0};
  std::atomic<NodeId> started_{kNoNode};
  std::atomic<int64_t> waits_{0};  // begun and ended
  mutable Mutex mu_;
  Waiting* waiting_ GUARDED_BY(mu_) = nullptr;
};

}  // namespace penstock
