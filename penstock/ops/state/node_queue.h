#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "penstock/core/cancellation.h"
#include "penstock/device/kernel.h"

namespace penstock::ops {

// A node that waits at a piece of state.
struct QueuedNode {
  uint64_t id = 0;
  int64_t wants = 0;  // how much of what it waits for
  KernelContext* context = nullptr;
  std::function<void(Status)> done;
  Cancellation::Token token = 0;

  // Lets the node go on. REQUIRES: taken out of its queue; no lock is held.
  void Finish(const Status& status) {
    // A callback that runs already finds that this waiter has left.
    if (token != 0) (void)context->cancellation()->Deregister(token);
    done(status);
  }
};

// Those who wait at one piece of state, in order of arrival. Threads: its owner's lock guards it.
class NodeQueue {
 public:
  bool empty() const { return waiters_.empty(); }
  size_t size() const { return waiters_.size(); }
  const QueuedNode& front() const { return waiters_.front(); }
  QueuedNode PopFront() {
    QueuedNode first = std::move(waiters_.front());
    waiters_.pop_front();
    return first;
  }

  // Puts a node at the end; `on_cancel(id)` is called when its step is cancelled. Does nothing and
  // returns false when that has already happened.
  bool Add(KernelContext& context, int64_t wants, const std::function<void(Status)>& done,
           std::function<void(uint64_t id)> on_cancel) {
    QueuedNode waiter{++last_id_, wants, &context, done, 0};
    if (context.cancellation() != nullptr) {
      waiter.token = context.cancellation()->Register(
          [on_cancel = std::move(on_cancel), id = waiter.id] { on_cancel(id); });
      if (waiter.token == 0) return false;
    }
    waiters_.push_back(std::move(waiter));
    return true;
  }

  // Takes out that one, unless it has left.
  std::optional<QueuedNode> Remove(uint64_t id) {
    for (auto it = waiters_.begin(); it != waiters_.end(); ++it) {
      if (it->id != id) continue;
      QueuedNode found = std::move(*it);
      waiters_.erase(it);
      return found;
    }
    return std::nullopt;
  }

 private:
  std::deque<QueuedNode> waiters_;
  uint64_t last_id_ = 0;
};

}  // namespace penstock::ops
