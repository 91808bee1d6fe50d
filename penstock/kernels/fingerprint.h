#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace penstock::kernels {

// Hashes that are part of models: what they give must never change.

// FarmHash's Fingerprint64: TensorFlow's hash of strings for buckets and crossed columns.
uint64_t Fingerprint64(std::string_view bytes);

// SipHash-2-4 under a key: buckets that nobody without the key can flood.
uint64_t SipHash(const std::array<uint64_t, 2>& key, std::string_view bytes);

// The 64-bit Murmur hash of older models.
uint64_t MurmurHash64(std::string_view bytes, uint64_t seed = 0xDECAFCAFFE);

}  // namespace penstock::kernels
