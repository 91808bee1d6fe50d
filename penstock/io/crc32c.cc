#include "penstock/io/crc32c.h"

#include <array>
#include <cstddef>

#include "penstock/io/little_endian.h"

namespace penstock::io {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // Reflected.

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// tables[k][b] is the remainder of byte b followed by k zero bytes, so that the eight bytes of a
// word are looked up independently and combined by xor.
constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kPolynomial : 0);
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

constexpr Tables kTables = MakeTables();

}  // namespace

uint32_t Crc32c(std::string_view data, uint32_t crc) {
  const char* p = data.data();
  size_t n = data.size();
  crc = ~crc;
  for (; n >= 8; n -= 8, p += 8) {
    const uint64_t word = LoadLittleEndian<uint64_t>(p) ^ crc;
    crc = 0;
    for (int i = 0; i < 8; ++i) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; n > 0; --n, ++p) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint8_t>(*p)) & 0xff];
  return ~crc;
}

}  // namespace penstock::io
