#pragma once

#include <bit>
#include <concepts>
#include <cstring>

namespace penstock::io {

static_assert(std::endian::native == std::endian::little, "file formats are read in place");

// Reads a number that lies at `p`, aligned or not.
template <std::unsigned_integral T>
T LoadLittleEndian(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

template <std::unsigned_integral T>
void StoreLittleEndian(T value, char* p) {
  std::memcpy(p, &value, sizeof(value));
}

}  // namespace penstock::io
