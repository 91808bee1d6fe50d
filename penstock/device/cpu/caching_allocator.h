#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "penstock/core/allocator.h"
#include "penstock/core/mutex.h"

namespace penstock {

// Host memory that keeps what is given back, by size class (sixteen a power of two), for the next
// request: a step that repeats asks the system for nothing. Counts bytes, and refuses what would
// pass the limit; before it refuses, or when the system has no more, it gives the kept blocks back.
// Lives until it is retired and the last block is back, so a tensor may outlive the device that
// made it. Threads: all methods may be called concurrently.
class CachingAllocator final : public Allocator {
 public:
  // `limit` in bytes, 0: none.
  static CachingAllocator* New(int64_t limit) { return new CachingAllocator(limit); }
  // Gives up the maker's share: the allocator is gone when no block is out.
  void Retire() { Drop(); }

  void* Allocate(size_t bytes) override;
  void Deallocate(void* memory, size_t bytes) override;
  Stats stats() const override;
  // Returns all kept blocks to the system.
  void Trim();

  // The bytes that a request of `bytes` occupies.
  static size_t RoundUp(size_t bytes);

 private:
  static constexpr int kSteps = 16;  // classes between one power of two and the next
  static constexpr int kClasses = kSteps * 48;
  struct Shelf {
    Mutex mu;
    std::vector<void*> blocks GUARDED_BY(mu);
  };

  explicit CachingAllocator(int64_t limit) : limit_(limit) {}
  ~CachingAllocator() override { Trim(); }
  void Drop() {
    // acq_rel: the last one out must see all that the others did to the shelves.
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  static int ClassOf(size_t bytes);
  bool Reserve(int64_t bytes);

  const int64_t limit_;
  std::array<Shelf, kClasses> shelves_;
  std::atomic<int64_t> owners_{1};  // the maker and each block that is out
  std::atomic<int64_t> in_use_{0};
  std::atomic<int64_t> peak_{0};
  std::atomic<int64_t> cached_{0};
  std::atomic<int64_t> allocations_{0};
  std::atomic<int64_t> largest_{0};
};

}  // namespace penstock
