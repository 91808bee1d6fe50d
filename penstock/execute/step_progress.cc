#include "penstock/execute/step_progress.h"

#include <algorithm>

namespace penstock {

void StepProgress::NodeWaits(NodeId node) {
  const Clock::time_point now = Clock::now();
  MutexLock lock(mu_);
  waiting_.emplace(node, now);
  waits_.fetch_add(1, std::memory_order_relaxed);
}

void StepProgress::NodeResumed(NodeId node) {
  MutexLock lock(mu_);
  // Equal keys keep their order: the first is the oldest. Which iteration it was does not matter.
  if (const auto it = waiting_.find(node); it != waiting_.end()) waiting_.erase(it);
  waits_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<StepProgress::Waiting> StepProgress::WaitingNodes() const {
  std::vector<Waiting> out;
  {
    MutexLock lock(mu_);
    for (const auto& [node, since] : waiting_) out.push_back({node, since});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Waiting& a, const Waiting& b) { return a.since < b.since; });
  return out;
}

int64_t StepProgress::Changes() const { return ended() + waits_.load(std::memory_order_relaxed); }

}  // namespace penstock
