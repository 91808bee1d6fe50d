#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::io {

// Numbers of 7 bits a byte, the low ones first; the top bit says that more follow.

inline void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

// Cuts a number off the front of `bytes`; false when there is none whole, or it needs more than 64
// bits.
inline bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < bytes->size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>((*bytes)[i]);
    if (i == 9 && byte > 1) return false;
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace penstock::io
