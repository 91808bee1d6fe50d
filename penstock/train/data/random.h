#pragma once

#include <cstdint>

namespace penstock::data {

// A small generator that gives the same numbers everywhere (SplitMix64): the order of a shuffle
// must not hang on a standard library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() { return Mix(state_ += 0x9e3779b97f4a7c15u); }
  // Uniform in [0, limit). REQUIRES: limit > 0.
  uint64_t Below(uint64_t limit) {
    // Numbers under `unfair` would make the small remainders likelier.
    const uint64_t unfair = -limit % limit;
    uint64_t number = Next();
    while (number < unfair) number = Next();
    return number % limit;
  }
  // Two seeds as one.
  static uint64_t Combine(uint64_t a, uint64_t b) { return Mix(Mix(a + 0x632be59bd9b4e019u) + b); }

 private:
  static uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace penstock::data
