#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "penstock/core/status.h"

namespace penstock {

// One task at a time on a thread of its own, whose error waits for somebody to see it.
// Threads: one at a time, but is_running() may be called by any.
class Background {
 public:
  Background() = default;
  // Waits; an error that nobody has seen goes to the log.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  bool is_running() const { return running_.load(std::memory_order_acquire); }
  // Waits for the task, and takes its error.
  Status Wait();
  // REQUIRES: Wait was called since the last Start.
  Status Start(std::string name, std::function<Status()> task);
  // Of the task that was started last.
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::thread thread_;
  Status status_;  // of the thread until it is joined
  std::atomic<bool> running_{false};
};

}  // namespace penstock
