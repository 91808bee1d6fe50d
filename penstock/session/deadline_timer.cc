#include "penstock/session/deadline_timer.h"

namespace penstock {

DeadlineTimer::~DeadlineTimer() {
  std::thread thread;
  {
    MutexLock lock(mu_);
    stopping_ = true;
    thread = std::move(thread_);
  }
  changed_.NotifyAll();
  if (thread.joinable()) thread.join();
}

DeadlineTimer::Token DeadlineTimer::Set(Time when, std::function<void()> callback) {
  MutexLock lock(mu_);
  if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  const Token token = next_++;
  alarms_.emplace(std::pair(when, token), std::move(callback));
  times_.emplace(token, when);
  changed_.NotifyAll();
  return token;
}

void DeadlineTimer::Remove(Token token) {
  MutexLock lock(mu_);
  if (const auto it = times_.find(token); it != times_.end()) {
    alarms_.erase({it->second, token});
    times_.erase(it);
  }
  while (running_ == token) changed_.Wait(mu_);
}

void DeadlineTimer::Loop() {
  MutexLock lock(mu_);
  while (!stopping_) {
    if (alarms_.empty()) {
      changed_.Wait(mu_);
      continue;
    }
    const auto first = alarms_.begin();
    const auto [when, token] = first->first;
    if (std::chrono::steady_clock::now() < when) {
      changed_.WaitUntil(mu_, when);
      continue;
    }
    const std::function<void()> callback = std::move(first->second);
    alarms_.erase(first);
    times_.erase(token);
    running_ = token;
    mu_.Unlock();
    callback();
    mu_.Lock();
    running_ = 0;
    changed_.NotifyAll();
  }
}

}  // namespace penstock
