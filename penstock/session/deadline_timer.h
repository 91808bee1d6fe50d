#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>

#include "penstock/core/mutex.h"

namespace penstock {

// Calls back when a moment has come. One thread, started by the first deadline.
// Threads: all methods may be called concurrently. A callback does not run after Remove has
// returned.
class DeadlineTimer {
 public:
  using Token = uint64_t;
  using Time = std::chrono::steady_clock::time_point;

  ~DeadlineTimer();
  Token Set(Time when, std::function<void()> callback);
  void Remove(Token token);

 private:
  void Loop();

  Mutex mu_;
  CondVar changed_;
  std::map<std::pair<Time, Token>, std::function<void()>> alarms_ GUARDED_BY(mu_);
  std::map<Token, Time> times_ GUARDED_BY(mu_);
  Token next_ GUARDED_BY(mu_) = 1;
  Token running_ GUARDED_BY(mu_) = 0;
  bool stopping_ GUARDED_BY(mu_) = false;
  std::thread thread_ GUARDED_BY(mu_);
};

}  // namespace penstock
