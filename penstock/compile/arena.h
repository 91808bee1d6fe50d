#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace penstock {

// Lays blocks out in one stretch of memory that grows as it must. A block goes where the smallest
// free stretch holds it; stretches that touch become one.
// Invariant: free stretches do not touch each other, and cover all of [0, top) that is not taken.
class ArenaLayout {
 public:
  static constexpr int64_t kAlignment = 64;
  // No plan is larger.
  static constexpr int64_t kMaxBytes = int64_t{1} << 40;

  // What a block of `bytes` takes up, or nothing when that is absurd.
  static std::optional<int64_t> Rounded(int64_t bytes);

  // The offset of a block. REQUIRES: `size` is Rounded.
  std::optional<int64_t> Take(int64_t size);
  // REQUIRES: taken with that size.
  void Give(int64_t offset, int64_t size);
  // What the stretch has grown to.
  int64_t bytes() const { return top_; }

 private:
  void AddFree(int64_t offset, int64_t size);
  void RemoveFree(int64_t offset, int64_t size);

  int64_t top_ = 0;
  std::map<int64_t, int64_t> free_;                   // size by offset
  std::set<std::pair<int64_t, int64_t>> free_sizes_;  // size, offset
};

}  // namespace penstock
