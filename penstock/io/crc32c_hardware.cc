#include "penstock/io/crc32c_hardware.h"

#include <array>
#include <cstring>

#include "penstock/io/crc_polynomial.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace penstock::io {

#if defined(__x86_64__) || defined(__ARM_FEATURE_CRC32)
namespace {

#if defined(__x86_64__)
#define PENSTOCK_CRC_TARGET __attribute__((target("sse4.2")))
PENSTOCK_CRC_TARGET inline uint64_t AddWord(uint64_t crc, uint64_t word) {
  return _mm_crc32_u64(crc, word);
}
PENSTOCK_CRC_TARGET inline uint64_t AddByte(uint64_t crc, uint8_t byte) {
  return _mm_crc32_u8(static_cast<uint32_t>(crc), byte);
}
bool HasInstruction() { return __builtin_cpu_supports("sse4.2"); }
#else
#define PENSTOCK_CRC_TARGET
inline uint64_t AddWord(uint64_t crc, uint64_t word) {
  return __crc32cd(static_cast<uint32_t>(crc), word);
}
inline uint64_t AddByte(uint64_t crc, uint8_t byte) {
  return __crc32cb(static_cast<uint32_t>(crc), byte);
}
bool HasInstruction() { return true; }
#endif

// The instruction takes three cycles, but one can start each cycle: three streams side by side,
// joined after so many bytes each.
constexpr size_t kStreamBytes = 4096;

// Multiplication by CrcOfZeros(kStreamBytes), byte by byte of the other factor.
using ShiftTable = std::array<std::array<uint32_t, 256>, 4>;
constexpr ShiftTable MakeShiftTable() {
  constexpr uint32_t kShift = CrcOfZeros(kStreamBytes, kCrc32cPolynomial);
  ShiftTable table{};
  for (size_t k = 0; k < 4; ++k) {
    // Linear: the products of single bits give those of all bytes.
    for (size_t bit = 0; bit < 8; ++bit) {
      const uint32_t product = MultiplyCrc(uint32_t{1} << (8 * k + bit), kShift, kCrc32cPolynomial);
      for (size_t byte = 0; byte < 256; ++byte) {
        if ((byte >> bit & 1) != 0) table[k][byte] ^= product;
      }
    }
  }
  return table;
}
constexpr ShiftTable kShiftTable = MakeShiftTable();

uint32_t Shifted(uint64_t crc) {
  return kShiftTable[0][crc & 0xff] ^ kShiftTable[1][crc >> 8 & 0xff] ^
         kShiftTable[2][crc >> 16 & 0xff] ^ kShiftTable[3][crc >> 24 & 0xff];
}

uint64_t WordAt(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

PENSTOCK_CRC_TARGET uint32_t CrcByInstruction(std::string_view data, uint32_t begin) {
  const char* p = data.data();
  size_t n = data.size();
  uint64_t crc = ~begin;
  for (; n >= 3 * kStreamBytes; n -= 3 * kStreamBytes, p += 3 * kStreamBytes) {
    uint64_t second = 0, third = 0;
    for (size_t i = 0; i < kStreamBytes; i += 8) {
      crc = AddWord(crc, WordAt(p + i));
      second = AddWord(second, WordAt(p + kStreamBytes + i));
      third = AddWord(third, WordAt(p + 2 * kStreamBytes + i));
    }
    crc = Shifted(Shifted(crc) ^ second) ^ third;
  }
  for (; n >= 8; n -= 8, p += 8) crc = AddWord(crc, WordAt(p));
  for (; n > 0; --n, ++p) crc = AddByte(crc, static_cast<uint8_t>(*p));
  return ~static_cast<uint32_t>(crc);
}

}  // namespace

CrcFunction HardwareCrc32c() { return HasInstruction() ? CrcByInstruction : nullptr; }

#else

CrcFunction HardwareCrc32c() { return nullptr; }

#endif

}  // namespace penstock::io
