#include "penstock/core/host_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "penstock/core/allocator.h"

namespace penstock {

void* AllocateHostMemory(size_t bytes) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const bool is_large = bytes >= 4 * kHugePage;
  const size_t unit = is_large ? kHugePage : Allocator::kAlignment;
  if (bytes > SIZE_MAX - unit) return nullptr;
  void* block = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (block != nullptr && is_large) madvise(block, bytes, MADV_HUGEPAGE);
  return block;
}

}  // namespace penstock
