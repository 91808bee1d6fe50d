#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace penstock {

// Size arithmetic that data can reach goes through these: nothing is multiplied or allocated
// unchecked.
inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}
inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

// True when 0 <= index < limit, as one unsigned comparison.
inline bool InRange(int64_t index, int64_t limit) {
  return static_cast<uint64_t>(index) < static_cast<uint64_t>(limit);
}

}  // namespace penstock
