#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Clang's thread-safety analysis; nothing elsewhere.
#if defined(__clang__)
#define PENSTOCK_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define PENSTOCK_THREAD_ATTRIBUTE(x)
#endif
#define GUARDED_BY(mutex) PENSTOCK_THREAD_ATTRIBUTE(guarded_by(mutex))
#define REQUIRES_LOCK(mutex) PENSTOCK_THREAD_ATTRIBUTE(requires_capability(mutex))

namespace penstock {

class PENSTOCK_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void Lock() PENSTOCK_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void Unlock() PENSTOCK_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class PENSTOCK_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) PENSTOCK_THREAD_ATTRIBUTE(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() PENSTOCK_THREAD_ATTRIBUTE(release_capability()) { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  void Wait(Mutex& mutex) REQUIRES_LOCK(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // Returns false when `deadline` passed.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline)
      REQUIRES_LOCK(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool in_time = condition_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace penstock
