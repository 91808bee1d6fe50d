#include "penstock/kernels/fingerprint.h"

#include <bit>
#include <cstring>
#include <utility>

namespace penstock::kernels {
namespace {

// FarmHash's constants.
constexpr uint64_t k0 = 0xC3A5C85C97CB3127;
constexpr uint64_t k1 = 0xB492B66FBE98F273;
constexpr uint64_t k2 = 0x9AE16A3B2F90404F;

static_assert(std::endian::native == std::endian::little);
uint64_t Load64(const char* p) {
  uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
uint64_t Load32(const char* p) {
  uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
uint64_t Byte(char c) { return static_cast<unsigned char>(c); }
uint64_t Rotate(uint64_t v, int by) { return std::rotr(v, by); }
uint64_t ShiftMix(uint64_t v) { return v ^ v >> 47; }

uint64_t Mix(uint64_t u, uint64_t v, uint64_t mul) {
  const uint64_t a = ShiftMix((u ^ v) * mul);
  return ShiftMix((v ^ a) * mul) * mul;
}

uint64_t Farm0To16(const char* s, uint64_t n) {
  const uint64_t mul = k2 + n * 2;
  if (n >= 8) {
    const uint64_t a = Load64(s) + k2;
    const uint64_t b = Load64(s + n - 8);
    return Mix(Rotate(b, 37) * mul + a, (Rotate(a, 25) + b) * mul, mul);
  }
  if (n >= 4) return Mix(n + (Load32(s) << 3), Load32(s + n - 4), mul);
  if (n == 0) return k2;
  const uint64_t y = Byte(s[0]) + (Byte(s[n >> 1]) << 8);
  const uint64_t z = n + (Byte(s[n - 1]) << 2);
  return ShiftMix(y * k2 ^ z * k0) * k2;
}

uint64_t Farm17To32(const char* s, uint64_t n) {
  const uint64_t mul = k2 + n * 2;
  const uint64_t a = Load64(s) * k1;
  const uint64_t b = Load64(s + 8);
  const uint64_t c = Load64(s + n - 8) * mul;
  const uint64_t d = Load64(s + n - 16) * k2;
  return Mix(Rotate(a + b, 43) + Rotate(c, 30) + d, a + Rotate(b + k2, 18) + c, mul);
}

uint64_t Farm33To64(const char* s, uint64_t n) {
  const uint64_t mul = k2 + n * 2;
  const uint64_t a = Load64(s) * k2;
  const uint64_t b = Load64(s + 8);
  const uint64_t c = Load64(s + n - 8) * mul;
  const uint64_t d = Load64(s + n - 16) * k2;
  const uint64_t y = Rotate(a + b, 43) + Rotate(c, 30) + d;
  const uint64_t z = Mix(y, a + Rotate(b + k2, 18) + c, mul);
  const uint64_t e = Load64(s + 16) * mul;
  const uint64_t f = Load64(s + 24);
  const uint64_t g = (y + Load64(s + n - 32)) * mul;
  const uint64_t h = (z + Load64(s + n - 24)) * mul;
  return Mix(Rotate(e + f, 43) + Rotate(g, 30) + h, e + Rotate(f + a, 18) + g, mul);
}

using Pair = std::pair<uint64_t, uint64_t>;

// 32 bytes into two words.
Pair Weak32(const char* s, uint64_t a, uint64_t b) {
  const uint64_t z = Load64(s + 24);
  a += Load64(s);
  b = Rotate(b + a + z, 21);
  const uint64_t c = a;
  a += Load64(s + 8) + Load64(s + 16);
  b += Rotate(a, 44);
  return {a + z, b + c};
}

// The state of the loop over blocks of 64 bytes.
struct FarmState {
  uint64_t x, y, z;
  Pair v, w;

  // The last block differs from the others in its factor, and in how much of v and w goes in.
  void Block(const char* s, uint64_t mul, uint64_t weight) {
    x = Rotate(x + y + v.first + Load64(s + 8), 37) * mul;
    y = Rotate(y + v.second + Load64(s + 48), 42) * mul;
    x ^= w.second * weight;
    y += v.first * weight + Load64(s + 40);
    z = Rotate(z + w.first, 33) * mul;
    v = Weak32(s, v.second * mul, x + w.first);
    w = Weak32(s + 32, z + w.second, y + Load64(s + 16));
    std::swap(z, x);
  }
};

uint64_t FarmLong(const char* s, uint64_t n) {
  constexpr uint64_t kSeed = 81;
  FarmState state{};
  state.y = kSeed * k1 + 113;
  state.z = ShiftMix(state.y * k2 + 113) * k2;
  state.x = kSeed * k2 + Load64(s);
  const char* const last = s + (n - 1) / 64 * 64;
  for (; s != last; s += 64) state.Block(s, k1, 1);
  const uint64_t rest = (n - 1) & 63;
  const uint64_t mul = k1 + ((state.z & 0xFF) << 1);
  state.w.first += rest;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.Block(last + rest - 63, mul, 9);
  return Mix(Mix(state.v.first, state.w.first, mul) + ShiftMix(state.y) * k0 + state.z,
             Mix(state.v.second, state.w.second, mul) + state.x, mul);
}

struct SipState {
  uint64_t v0, v1, v2, v3;

  void Round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void Word(uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }
};

}  // namespace

uint64_t Fingerprint64(std::string_view bytes) {
  const char* const s = bytes.data();
  const uint64_t n = bytes.size();
  if (n <= 16) return Farm0To16(s, n);
  if (n <= 32) return Farm17To32(s, n);
  if (n <= 64) return Farm33To64(s, n);
  return FarmLong(s, n);
}

uint64_t SipHash(const std::array<uint64_t, 2>& key, std::string_view bytes) {
  SipState state{key[0] ^ 0x736F6D6570736575, key[1] ^ 0x646F72616E646F6D,
                 key[0] ^ 0x6C7967656E657261, key[1] ^ 0x7465646279746573};
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) state.Word(Load64(bytes.data() + at));
  uint64_t last = bytes.size() << 56;
  for (size_t i = at; i < bytes.size(); ++i) last |= Byte(bytes[i]) << 8 * (i - at);
  state.Word(last);
  state.v2 ^= 0xFF;
  for (int i = 0; i < 4; ++i) state.Round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

uint64_t MurmurHash64(std::string_view bytes, uint64_t seed) {
  constexpr uint64_t kFactor = 0xC6A4A7935BD1E995;
  const auto shift = [](uint64_t v) { return v ^ v >> 47; };
  uint64_t hash = seed ^ bytes.size() * kFactor;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8)
    hash = (hash ^ shift(Load64(bytes.data() + at) * kFactor) * kFactor) * kFactor;
  if (at < bytes.size()) {
    for (size_t i = at; i < bytes.size(); ++i) hash ^= Byte(bytes[i]) << 8 * (i - at);
    hash *= kFactor;
  }
  return shift(shift(hash) * kFactor);
}

}  // namespace penstock::kernels
