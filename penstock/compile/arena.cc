#include "penstock/compile/arena.h"

#include <algorithm>
#include <iterator>

namespace penstock {

std::optional<int64_t> ArenaLayout::Rounded(int64_t bytes) {
  if (bytes < 0 || bytes > kMaxBytes) return std::nullopt;
  return std::max(bytes + kAlignment - 1, kAlignment) / kAlignment * kAlignment;
}

std::optional<int64_t> ArenaLayout::Take(int64_t size) {
  if (const auto best = free_sizes_.lower_bound({size, 0}); best != free_sizes_.end()) {
    const auto [free_size, offset] = *best;
    RemoveFree(offset, free_size);
    if (free_size > size) AddFree(offset + size, free_size - size);
    return offset;
  }
  int64_t offset = top_;
  if (!free_.empty()) {
    const auto [last, last_size] = *free_.rbegin();
    if (last + last_size == top_) {
      offset = last;
      RemoveFree(last, last_size);
    }
  }
  if (size > kMaxBytes - offset) return std::nullopt;
  top_ = offset + size;
  return offset;
}

void ArenaLayout::Give(int64_t offset, int64_t size) {
  const auto next = free_.upper_bound(offset);
  int64_t begin = offset;
  int64_t end = offset + size;
  if (next != free_.begin()) {
    const auto [before, before_size] = *std::prev(next);
    if (before + before_size == offset) begin = before;
  }
  if (next != free_.end() && next->first == end) {
    const auto [after, after_size] = *next;
    end += after_size;
    RemoveFree(after, after_size);
  }
  if (begin < offset) RemoveFree(begin, offset - begin);
  AddFree(begin, end - begin);
}

void ArenaLayout::AddFree(int64_t offset, int64_t size) {
  free_.emplace(offset, size);
  free_sizes_.emplace(size, offset);
}

void ArenaLayout::RemoveFree(int64_t offset, int64_t size) {
  free_.erase(offset);
  free_sizes_.erase({size, offset});
}

}  // namespace penstock
