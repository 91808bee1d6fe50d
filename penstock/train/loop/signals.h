#pragma once

#include <signal.h>

namespace penstock {

// While it lives, SIGINT and SIGTERM are noted instead of ending the process; a second one ends it
// at once, as if nobody had caught the first. The handlers that were there before come back.
// Threads: one at a time in a process; signal() may be called by any thread.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // The signal that came, or 0.
  static int signal();

 private:
  struct sigaction old_interrupt_, old_terminate_;
};

// "SIGINT", "SIGTERM".
const char* SignalName(int signal);

}  // namespace penstock
