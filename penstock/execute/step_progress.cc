#include "penstock/execute/step_progress.h"

#include <algorithm>

namespace penstock {

void StepProgress::NodeWaits(NodeId node, Waiting* entry) {
  entry->node = node;
  entry->since = Clock::now();
  MutexLock lock(mu_);
  entry->next = waiting_;
  entry->link = &waiting_;
  if (waiting_ != nullptr) waiting_->link = &entry->next;
  waiting_ = entry;
  waits_.fetch_add(1, std::memory_order_relaxed);
}

void StepProgress::NodeResumed(Waiting* entry) {
  MutexLock lock(mu_);
  *entry->link = entry->next;
  if (entry->next != nullptr) entry->next->link = entry->link;
  entry->link = nullptr;
  waits_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<StepProgress::Waiting> StepProgress::WaitingNodes() const {
  std::vector<Waiting> out;
  {
    MutexLock lock(mu_);
    for (const Waiting* at = waiting_; at != nullptr; at = at->next)
      out.push_back({at->node, at->since, nullptr, nullptr});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Waiting& a, const Waiting& b) { return a.since < b.since; });
  return out;
}

int64_t StepProgress::Changes() const { return ended() + waits_.load(std::memory_order_relaxed); }

}  // namespace penstock
