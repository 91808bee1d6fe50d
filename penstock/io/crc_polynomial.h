#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// Arithmetic of checksums. A CRC is a polynomial over {0, 1} modulo another; here the lowest bit is
// the highest power ("reflected"), so a shift to the right multiplies by x.

namespace penstock::io {

inline constexpr uint32_t kCrc32cPolynomial = 0x82f63b78;
inline constexpr uint32_t kCrc32Polynomial = 0xedb88320;

// a * b modulo `polynomial`.
constexpr uint32_t MultiplyCrc(uint32_t a, uint32_t b, uint32_t polynomial) {
  uint32_t product = 0;
  for (uint32_t bit = uint32_t{1} << 31; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? polynomial : 0);
  }
  return product;
}

// x^(8 * bytes): multiplying by it is what `bytes` zero bytes do to a checksum.
constexpr uint32_t CrcOfZeros(uint64_t bytes, uint32_t polynomial) {
  uint32_t result = uint32_t{1} << 31;  // x^0
  uint32_t power = uint32_t{1} << 23;   // x^8
  for (; bytes != 0; bytes >>= 1) {
    if ((bytes & 1) != 0) result = MultiplyCrc(result, power, polynomial);
    power = MultiplyCrc(power, power, polynomial);
  }
  return result;
}

// tables[k][b] is the remainder of byte b followed by k zero bytes, so that the eight bytes of a
// word are looked up independently and combined by xor.
using CrcTables = std::array<std::array<uint32_t, 256>, 8>;
constexpr CrcTables MakeCrcTables(uint32_t polynomial) {
  CrcTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

}  // namespace penstock::io
