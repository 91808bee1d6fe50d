#pragma once

#include <shared_mutex>

#include "penstock/core/mutex.h"

namespace penstock {

// A mutex that many readers or one writer may hold.
class PENSTOCK_THREAD_ATTRIBUTE(capability("mutex")) SharedMutex {
 public:
  void Lock() PENSTOCK_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void Unlock() PENSTOCK_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  void LockShared() PENSTOCK_THREAD_ATTRIBUTE(acquire_shared_capability()) { mutex_.lock_shared(); }
  void UnlockShared() PENSTOCK_THREAD_ATTRIBUTE(release_shared_capability()) {
    mutex_.unlock_shared();
  }

 private:
  std::shared_mutex mutex_;
};

class PENSTOCK_THREAD_ATTRIBUTE(scoped_lockable) WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) PENSTOCK_THREAD_ATTRIBUTE(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~WriterLock() PENSTOCK_THREAD_ATTRIBUTE(release_capability()) { mutex_.Unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class PENSTOCK_THREAD_ATTRIBUTE(scoped_lockable) ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex)
      PENSTOCK_THREAD_ATTRIBUTE(acquire_shared_capability(mutex))
      : mutex_(mutex) {
    mutex_.LockShared();
  }
  ~ReaderLock() PENSTOCK_THREAD_ATTRIBUTE(release_generic_capability()) { mutex_.UnlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace penstock
