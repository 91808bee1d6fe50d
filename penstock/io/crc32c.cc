#include "penstock/io/crc32c.h"

#include <cstddef>

#include "penstock/io/crc32c_hardware.h"
#include "penstock/io/crc_polynomial.h"
#include "penstock/io/little_endian.h"

namespace penstock::io {
namespace {

constexpr CrcTables kCrc32cTables = MakeCrcTables(kCrc32cPolynomial);
constexpr CrcTables kCrc32Tables = MakeCrcTables(kCrc32Polynomial);

uint32_t CrcByTables(const CrcTables& tables, std::string_view data, uint32_t crc) {
  const char* p = data.data();
  size_t n = data.size();
  crc = ~crc;
  for (; n >= 8; n -= 8, p += 8) {
    const uint64_t word = LoadLittleEndian<uint64_t>(p) ^ crc;
    crc = 0;
    for (int i = 0; i < 8; ++i) crc ^= tables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; n > 0; --n, ++p) crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<uint8_t>(*p)) & 0xff];
  return ~crc;
}

}  // namespace

uint32_t Crc32c(std::string_view data, uint32_t crc) {
  static const CrcFunction by_hardware = HardwareCrc32c();
  return by_hardware != nullptr ? by_hardware(data, crc) : CrcByTables(kCrc32cTables, data, crc);
}

uint32_t JoinCrc32c(uint32_t a, uint32_t b, uint64_t b_bytes) {
  const uint32_t shift = CrcOfZeros(b_bytes, kCrc32cPolynomial);
  return MultiplyCrc(a, shift, kCrc32cPolynomial) ^ b;
}

uint32_t Crc32(std::string_view data, uint32_t crc) { return CrcByTables(kCrc32Tables, data, crc); }

}  // namespace penstock::io
