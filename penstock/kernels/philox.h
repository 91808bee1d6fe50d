#pragma once

#include <array>
#include <cstdint>

namespace penstock::kernels {

// Philox 4x32-10, the counter-based generator of Salmon et al.: block i of a stream is a function
// of the key and the counter alone, so that any part of it can be made anywhere. The layout of
// seeds and words is TensorFlow's: equal seeds give equal numbers. Threads: a value.
class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  constexpr Philox() = default;
  // The stream of two seeds: one is the key, the other the upper half of the counter.
  constexpr Philox(uint64_t seed, uint64_t seed2) : key_(seed), high_(seed2) {}
  constexpr Philox(uint64_t key, uint64_t counter_low, uint64_t counter_high)
      : key_(key), low_(counter_low), high_(counter_high) {}

  uint64_t key() const { return key_; }
  uint64_t counter_low() const { return low_; }
  uint64_t counter_high() const { return high_; }

  // Passes over blocks.
  constexpr void Skip(uint64_t blocks) {
    low_ += blocks;
    if (low_ < blocks) ++high_;
  }
  // The same as a value.
  constexpr Philox At(uint64_t block) const {
    Philox moved = *this;
    moved.Skip(block);
    return moved;
  }

  constexpr Block Next() {
    const Block block = Mix(key_, low_, high_);
    Skip(1);
    return block;
  }

  static constexpr uint32_t kMultiplier0 = 0xd2511f53, kMultiplier1 = 0xcd9e8d57;
  static constexpr uint32_t kWeyl0 = 0x9e3779b9, kWeyl1 = 0xbb67ae85;
  static constexpr int kRounds = 10;

 private:
  static constexpr Block Mix(uint64_t key, uint64_t low, uint64_t high) {
    uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
    Block x = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
               static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
    for (int round = 0; round < kRounds; ++round, k0 += kWeyl0, k1 += kWeyl1) {
      const uint64_t p0 = uint64_t{kMultiplier0} * x[0], p1 = uint64_t{kMultiplier1} * x[2];
      x = {static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(p0)};
    }
    return x;
  }

  uint64_t key_ = 0;
  uint64_t low_ = 0;
  uint64_t high_ = 0;
};

// The words of a stream one by one, and the numbers that are made of one or two of them.
class PhiloxWords {
 public:
  explicit PhiloxWords(const Philox& stream) : stream_(stream) {}
  // From word `first` on.
  PhiloxWords(const Philox& stream, uint64_t first) : stream_(stream.At(first / 4)) {
    for (uint64_t i = 0; i < first % 4; ++i) Next();
  }

  uint32_t Next() {
    if (used_ == 4) {
      block_ = stream_.Next();
      used_ = 0;
    }
    return block_[used_++];
  }
  uint64_t Next64() {
    const uint64_t low = Next();
    return low | uint64_t{Next()} << 32;
  }
  // In [0, 1).
  float NextFloat();
  double NextDouble();
  // In [0, n), each equally likely: draws again where the remainder would favour some. 0 when n is.
  uint32_t Below(uint32_t n) {
    return BelowBy(n, [this] { return Next(); });
  }
  uint64_t Below64(uint64_t n) {
    return BelowBy(n, [this] { return Next64(); });
  }

 private:
  template <class U, class F>
  static U BelowBy(U n, F next) {
    if ((n & (n - 1)) == 0) return n == 0 ? next() * 0 : next() & (n - 1);
    const U biased = ~U{0} % n + 1;
    U value = next();
    while (value < biased) value = next();
    return value % n;
  }

  Philox stream_;
  Philox::Block block_ = {};
  uint32_t used_ = 4;
};

// A number in [0, 1) from random bits: those of a fraction after 1, less 1.
constexpr float UnitFloat(uint32_t bits) {
  return __builtin_bit_cast(float, (bits & 0x7fffffu) | 0x3f800000u) - 1.0f;
}
constexpr double UnitDouble(uint32_t upper, uint32_t lower) {
  const uint64_t fraction = uint64_t{upper & 0xfffffu} << 32 | lower;
  return __builtin_bit_cast(double, fraction | 0x3ff0000000000000u) - 1.0;
}

inline float PhiloxWords::NextFloat() { return UnitFloat(Next()); }
inline double PhiloxWords::NextDouble() {
  const uint32_t upper = Next();
  return UnitDouble(upper, Next());
}

}  // namespace penstock::kernels
