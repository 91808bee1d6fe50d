#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>

#include "penstock/core/mutex.h"
#include "penstock/core/status.h"

namespace penstock {

// Carries the wish to stop to everything that works for one step. Kernels that wait register a
// callback; kernels that work long poll IsCancelled(). Threads: all methods may be called
// concurrently. Callbacks run on the cancelling thread, never under mu_. Invariant: a callback runs
// at most once, and not after Deregister returned true.
class Cancellation {
 public:
  using Token = uint64_t;

  // The first reason wins; later calls do nothing.
  void Cancel(const Status& why);
  bool IsCancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // Why, or OK while nobody has cancelled.
  Status status() const;
  // Calls `callback` when cancelled. Returns 0, and does not keep it, when that has already
  // happened.
  Token Register(std::function<void()> callback);
  // True when the callback was removed before it ran; false when it ran or is about to.
  bool Deregister(Token token);
  // The same, and waits for a callback that is running on another thread: afterwards nothing it
  // uses is touched.
  void DeregisterAndWait(Token token);

 private:
  std::atomic<bool> cancelled_{false};
  mutable Mutex mu_;
  Status why_ GUARDED_BY(mu_);
  Token next_ GUARDED_BY(mu_) = 1;
  std::map<Token, std::function<void()>> callbacks_ GUARDED_BY(mu_);
  bool calling_ GUARDED_BY(mu_) = false;
  CondVar called_;
};

}  // namespace penstock
