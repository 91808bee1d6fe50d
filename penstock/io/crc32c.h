#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::io {

// CRC-32C (Castagnoli) of `data`, by the processor's own instruction where it has one. Pass an
// earlier result as `crc` to go on where it ended: Crc32c(b, Crc32c(a)) == Crc32c(a + b).
uint32_t Crc32c(std::string_view data, uint32_t crc = 0);

// Crc32c(a + b) from the checksums of both and the length of b: parts of a file can be summed by
// several threads.
uint32_t JoinCrc32c(uint32_t a, uint32_t b, uint64_t b_bytes);

// CRC-32 (IEEE), the checksum of zip and gzip; otherwise as Crc32c.
uint32_t Crc32(std::string_view data, uint32_t crc = 0);

// Files store checksums masked, because the checksum of bytes that hold their own checksum is weak.
constexpr uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

// As stored in files: MaskCrc(Crc32c(data)).
inline uint32_t MaskedCrc32c(std::string_view data) { return MaskCrc(Crc32c(data)); }

}  // namespace penstock::io
