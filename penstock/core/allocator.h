#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace penstock {

// Where tensor memory comes from: one per device.
// Threads: all methods may be called concurrently.
class Allocator {
 public:
  static constexpr size_t kAlignment = 64;

  struct Stats {
    int64_t bytes_in_use = 0;
    int64_t peak_bytes = 0;
    int64_t bytes_cached = 0;
    int64_t limit = 0;  // 0: none
    int64_t allocations = 0;
    int64_t largest = 0;
  };

  virtual ~Allocator() = default;
  // Memory of at least `bytes`, aligned to kAlignment; null when the limit or the machine does not
  // allow it.
  virtual void* Allocate(size_t bytes) = 0;
  // REQUIRES: `memory` came from Allocate(bytes).
  virtual void Deallocate(void* memory, size_t bytes) = 0;
  virtual Stats stats() const { return {}; }
};

// Plain aligned memory of the process, uncounted: for values that belong to no device yet, such as
// constants of a graph.
Allocator* HostAllocator();

}  // namespace penstock
