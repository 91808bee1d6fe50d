#include "penstock/core/cancellation.h"

#include <utility>

namespace penstock {

void Cancellation::Cancel(const Status& why) {
  std::map<Token, std::function<void()>> callbacks;
  {
    MutexLock lock(mu_);
    if (cancelled_.load(std::memory_order_relaxed)) return;
    why_ = why.ok() ? Cancelled("the step was cancelled") : why;
    // Release: who sees the flag sees the reason.
    cancelled_.store(true, std::memory_order_release);
    callbacks.swap(callbacks_);
    calling_ = true;
  }
  for (auto& [token, callback] : callbacks) callback();
  MutexLock lock(mu_);
  calling_ = false;
  called_.NotifyAll();
}

Status Cancellation::status() const {
  MutexLock lock(mu_);
  return why_;
}

Cancellation::Token Cancellation::Register(std::function<void()> callback) {
  MutexLock lock(mu_);
  if (cancelled_.load(std::memory_order_relaxed)) return 0;
  callbacks_.emplace(next_, std::move(callback));
  return next_++;
}

void Cancellation::DeregisterAndWait(Token token) {
  MutexLock lock(mu_);
  if (callbacks_.erase(token) > 0) return;
  while (calling_) called_.Wait(mu_);
}

bool Cancellation::Deregister(Token token) {
  MutexLock lock(mu_);
  return callbacks_.erase(token) > 0;
}

}  // namespace penstock
