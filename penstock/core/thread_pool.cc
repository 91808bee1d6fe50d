#include "penstock/core/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>

#include "penstock/core/format.h"
#include "penstock/core/log.h"
#include "penstock/core/parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace penstock {
namespace {

// Waking a thread takes some 20 us where cores are virtual. A worker that was woken too late for
// one loop should still be awake for the next; who watches for this long has lost no more than two
// wake-ups.
constexpr std::chrono::microseconds kWatchTime(50);
// A worker whose watches came to nothing this many times in a row sleeps at once, until one of its
// sleeps turns out to have been short.
constexpr int kFruitlessWatches = 4;
constexpr std::chrono::microseconds kShortSleep(100);

void Pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Polls `ready` without sleeping, for a bounded time.
template <class Ready>
bool PollFor(std::chrono::microseconds limit, Ready ready) {
  const auto end = std::chrono::steady_clock::now() + limit;
  do {
    for (int i = 0; i < 8; ++i) {
      if (ready()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) {
    workers_.emplace_back([this] { WorkerLoop(); });
  }
}

ThreadPool::~ThreadPool() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Schedule(std::function<void()> task) {
  if (workers_.empty()) return task();
  bool enough_watch;
  {
    MutexLock lock(mu_);
    tasks_.push_back(std::move(task));
    const int scheduled = scheduled_.fetch_add(1, std::memory_order_relaxed) + 1;
    // One that stops watching looks at the queue once more, under the lock, before it sleeps.
    enough_watch = scheduled <= watching_.load(std::memory_order_relaxed);
  }
  if (!enough_watch) wake_.NotifyOne();
}

bool ThreadPool::Pop(std::function<void()>* task) {
  if (tasks_.empty()) return false;
  *task = std::move(tasks_.front());
  tasks_.pop_front();
  scheduled_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool ThreadPool::RunOne() {
  std::function<void()> task;
  {
    MutexLock lock(mu_);
    if (!Pop(&task)) return false;
  }
  task();
  return true;
}

bool ThreadPool::HelpUntil(FunctionRef<bool()> done) {
  MutexLock lock(mu_);
  if (has_helper_) return false;
  has_helper_ = true;
  while (!done()) {
    std::function<void()> task;
    if (Pop(&task)) {
      mu_.Unlock();
      task();
      mu_.Lock();
      continue;
    }
    idle_.fetch_add(1, std::memory_order_relaxed);
    wake_.Wait(mu_);
    idle_.fetch_sub(1, std::memory_order_relaxed);
  }
  has_helper_ = false;
  // A task that woke this thread is for another now.
  if (!tasks_.empty()) wake_.NotifyOne();
  return true;
}

void ThreadPool::Wake() {
  // Under the lock: a helper that has just found nothing done sleeps before this, not after.
  MutexLock lock(mu_);
  if (has_helper_) wake_.NotifyAll();
}

bool ThreadPool::Watch() {
  idle_.fetch_add(1, std::memory_order_relaxed);
  watching_.fetch_add(1, std::memory_order_relaxed);
  const bool seen =
      PollFor(kWatchTime, [this] { return scheduled_.load(std::memory_order_relaxed) > 0; });
  watching_.fetch_sub(1, std::memory_order_relaxed);
  idle_.fetch_sub(1, std::memory_order_relaxed);
  return seen;
}

void ThreadPool::WorkerLoop() {
  int watches = 0;  // that may yet come to nothing
  for (;;) {
    std::function<void()> task;
    if (watches > 0) watches = Watch() ? kFruitlessWatches : watches - 1;
    {
      MutexLock lock(mu_);
      while (!Pop(&task)) {
        if (stopping_) return;
        const auto asleep = std::chrono::steady_clock::now();
        idle_.fetch_add(1, std::memory_order_relaxed);
        wake_.Wait(mu_);
        idle_.fetch_sub(1, std::memory_order_relaxed);
        if (std::chrono::steady_clock::now() - asleep < kShortSleep) watches = kFruitlessWatches;
      }
    }
    task();
  }
}

namespace {

// Ranges of one ParallelFor call, claimed one by one by whoever comes. Helpers that come late find
// nothing left, so the caller waits only for ranges that somebody is working on. Lives until the
// last helper has left.
class SharedRanges {
 public:
  SharedRanges(int64_t n, int64_t range, FunctionRef<void(int64_t, int64_t)> body)
      : n_(n), range_(range), left_((n + range - 1) / range), body_(body) {}

  // Works until nothing is left to claim.
  void Work() {
    for (;;) {
      const int64_t begin = next_.fetch_add(range_, std::memory_order_relaxed);
      if (begin >= n_) return;
      body_(begin, std::min(n_, begin + range_));
      // acq_rel: whoever finishes the last range has seen the writes of all.
      if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        MutexLock lock(mu_);
        done_ = true;
        all_done_.NotifyAll();
      }
    }
  }
  void Wait() {
    if (PollFor(kWatchTime, [this] { return left_.load(std::memory_order_acquire) == 0; })) return;
    MutexLock lock(mu_);
    while (!done_) all_done_.Wait(mu_);
  }

 private:
  const int64_t n_;
  const int64_t range_;
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> left_;
  FunctionRef<void(int64_t, int64_t)> body_;
  Mutex mu_;
  CondVar all_done_;
  bool done_ GUARDED_BY(mu_) = false;
};

// Work below this many cycles is not worth handing to a thread that sleeps, or watches.
constexpr double kMinCyclesAsleep = 50'000;
constexpr double kMinCyclesWatching = 10'000;

}  // namespace

int ParallelFor::threads() const { return pool_ == nullptr ? 1 : pool_->threads(); }

void ParallelFor::operator()(int64_t n, double cost, FunctionRef<void(int64_t, int64_t)> body,
                             int64_t grain) const {
  if (n <= 0) return;
  if (threads() == 1 || n == 1 || !pool_->HasIdleWorker()) return body(0, n);
  const double least = pool_->HasWatchingWorker() ? kMinCyclesWatching : kMinCyclesAsleep;
  const int64_t ranges_by_cost =
      static_cast<int64_t>(std::min(static_cast<double>(n) * cost / least, 1e6));
  const int64_t ranges = std::min<int64_t>(ranges_by_cost, 4 * threads());
  if (ranges <= 1) return body(0, n);
  const int64_t blocks = (n + grain - 1) / grain;
  const int64_t range = (blocks + ranges - 1) / ranges * grain;
  auto shared = std::make_shared<SharedRanges>(n, range, body);
  const int helpers = static_cast<int>(std::min<int64_t>((n + range - 1) / range, threads()) - 1);
  for (int i = 0; i < helpers; ++i) pool_->Schedule([shared] { shared->Work(); });
  shared->Work();
  shared->Wait();
}

namespace {

// A positive whole number from an environment variable, or 0. OMP_NUM_THREADS may be a list: its
// first entry counts.
int ThreadsFromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return 0;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (end == text || (*end != '\0' && *end != ',') || value <= 0 || value > 1'000'000) {
    Log(LogLevel::kWarning,
        Format("ignoring {}={}: expected a positive number of threads", name, Printable(text)));
    return 0;
  }
  return static_cast<int>(value);
}

int AffinityCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return static_cast<int>(std::thread::hardware_concurrency());
  return CPU_COUNT(&set);
}

// Cores that the cgroup's quota allows, rounded up; 0 when there is none.
int CgroupCores() {
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2) {
    std::string quota;
    double period = 0;
    if (v2 >> quota >> period && quota != "max" && period > 0) {
      return static_cast<int>(std::ceil(std::strtod(quota.c_str(), nullptr) / period));
    }
    return 0;
  }
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) {
    return static_cast<int>(std::ceil(quota / period));
  }
  return 0;
}

}  // namespace

int ThreadBudget(int requested) {
  int budget = std::max(1, AffinityCores());
  for (const int limit : {CgroupCores(), ThreadsFromEnvironment("OMP_NUM_THREADS"),
                          ThreadsFromEnvironment("PENSTOCK_NUM_THREADS"), requested}) {
    if (limit > 0) budget = std::min(budget, limit);
  }
  return budget;
}

}  // namespace penstock
