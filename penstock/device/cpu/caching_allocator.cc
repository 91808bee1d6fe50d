#include "penstock/device/cpu/caching_allocator.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "penstock/core/host_memory.h"

namespace penstock {
namespace {

constexpr size_t kSmallest = 128;

void RaiseTo(std::atomic<int64_t>& target, int64_t value) {
  int64_t seen = target.load(std::memory_order_relaxed);
  while (seen < value && !target.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

// Class kSteps * e + q holds blocks of (kSteps + q + 1) / kSteps * 2^e bytes, e counted from that
// of kSmallest / 2.
size_t CachingAllocator::RoundUp(size_t bytes) {
  bytes = std::max(bytes, kSmallest);
  const size_t step = std::max(kAlignment, std::bit_floor(bytes - 1) / kSteps);
  return (bytes + step - 1) / step * step;
}

int CachingAllocator::ClassOf(size_t rounded) {
  const size_t low = std::bit_floor(rounded - 1);
  const int exponent = std::countr_zero(low) - std::countr_zero(kSmallest / 2);
  return kSteps * exponent + static_cast<int>((rounded - low) * kSteps / low) - 1;
}

bool CachingAllocator::Reserve(int64_t bytes) {
  const int64_t now = in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (limit_ > 0 && now > limit_) {
    in_use_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  RaiseTo(peak_, now);
  return true;
}

void* CachingAllocator::Allocate(size_t bytes) {
  if (bytes > (size_t{1} << 46)) return nullptr;
  const size_t rounded = RoundUp(bytes);
  if (!Reserve(static_cast<int64_t>(rounded))) return nullptr;
  allocations_.fetch_add(1, std::memory_order_relaxed);
  RaiseTo(largest_, static_cast<int64_t>(rounded));
  Shelf& shelf = shelves_[ClassOf(rounded)];
  {
    MutexLock lock(shelf.mu);
    if (!shelf.blocks.empty()) {
      void* block = shelf.blocks.back();
      shelf.blocks.pop_back();
      owners_.fetch_add(1, std::memory_order_relaxed);
      cached_.fetch_sub(static_cast<int64_t>(rounded), std::memory_order_relaxed);
      return block;
    }
  }
  // What other classes keep counts against the machine, not against the limit; give it back when it
  // is in the way.
  if (limit_ > 0 &&
      in_use_.load(std::memory_order_relaxed) + cached_.load(std::memory_order_relaxed) > limit_)
    Trim();
  void* block = AllocateHostMemory(rounded);
  if (block == nullptr) {
    Trim();
    block = AllocateHostMemory(rounded);
  }
  if (block == nullptr) {
    in_use_.fetch_sub(static_cast<int64_t>(rounded), std::memory_order_relaxed);
  } else {
    owners_.fetch_add(1, std::memory_order_relaxed);
  }
  return block;
}

void CachingAllocator::Deallocate(void* memory, size_t bytes) {
  const size_t rounded = RoundUp(bytes);
  Shelf& shelf = shelves_[ClassOf(rounded)];
  in_use_.fetch_sub(static_cast<int64_t>(rounded), std::memory_order_relaxed);
  cached_.fetch_add(static_cast<int64_t>(rounded), std::memory_order_relaxed);
  {
    MutexLock lock(shelf.mu);
    shelf.blocks.push_back(memory);
  }
  Drop();
}

void CachingAllocator::Trim() {
  for (int i = 0; i < kClasses; ++i) {
    std::vector<void*> blocks;
    {
      MutexLock lock(shelves_[i].mu);
      blocks.swap(shelves_[i].blocks);
    }
    const size_t low = kSmallest / 2 << (i / kSteps);
    const auto size =
        static_cast<int64_t>(low * static_cast<size_t>(kSteps + i % kSteps + 1) / kSteps);
    cached_.fetch_sub(size * static_cast<int64_t>(blocks.size()), std::memory_order_relaxed);
    for (void* block : blocks) std::free(block);
  }
}

Allocator::Stats CachingAllocator::stats() const {
  Stats stats;
  stats.bytes_in_use = in_use_.load(std::memory_order_relaxed);
  stats.peak_bytes = peak_.load(std::memory_order_relaxed);
  stats.bytes_cached = cached_.load(std::memory_order_relaxed);
  stats.limit = limit_;
  stats.allocations = allocations_.load(std::memory_order_relaxed);
  stats.largest = largest_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace penstock
