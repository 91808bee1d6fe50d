#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "penstock/core/function_ref.h"
#include "penstock/core/mutex.h"

namespace penstock {

// The threads of one process, shared by nodes that run beside each other and by the insides of one
// node. `threads` counts every thread that computes, the caller's included: a pool of n starts n -
// 1 workers. A thread that runs out of work keeps watch for about twice as long as waking it would
// take, and only while that has paid lately; then it sleeps. Threads: all methods may be called
// concurrently. The destructor runs what was scheduled, then joins.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  // Runs `task` on a worker, or on the calling thread when there are none.
  void Schedule(std::function<void()> task);
  // True when a worker waits for work: only then is handing out parts of a node worth a wake-up.
  bool HasIdleWorker() const { return idle_.load(std::memory_order_relaxed) > 0; }
  // True when a worker is awake and waits for work: it takes a part within a microsecond.
  bool HasWatchingWorker() const { return watching_.load(std::memory_order_relaxed) > 0; }
  // Takes one scheduled task and runs it on the calling thread. False when there was none.
  bool RunOne();
  // Makes the calling thread a worker until `done` says true; who makes it true calls Wake() then.
  // False, at once, when another thread does so: the pool has room for one.
  bool HelpUntil(FunctionRef<bool()> done);
  void Wake();

 private:
  void WorkerLoop();
  bool Pop(std::function<void()>* task) REQUIRES_LOCK(mu_);
  // Waits, awake, until there is a task; false when the time was up first.
  bool Watch();

  Mutex mu_;
  CondVar wake_;
  std::deque<std::function<void()>> tasks_ GUARDED_BY(mu_);
  bool stopping_ GUARDED_BY(mu_) = false;
  bool has_helper_ GUARDED_BY(mu_) = false;
  // Hints, read without the lock.
  std::atomic<int> idle_{0};
  std::atomic<int> watching_{0};
  std::atomic<int> scheduled_{0};
  std::vector<std::thread> workers_;
};

// The number of threads this process should compute with, the least of: the flag or option (0: not
// given), the environment variables PENSTOCK_NUM_THREADS and OMP_NUM_THREADS, the cores of its
// affinity mask and of its cgroup's quota. A variable that is not a positive number is reported on
// the log and ignored.
int ThreadBudget(int requested = 0);

}  // namespace penstock
