#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/random.cc"
#include "hwy/foreach_target.h"
//
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "hwy/highway.h"
#include "penstock/kernels/math.h"
#include "penstock/kernels/random.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// The 64-bit products of each lane with `factor`, as their upper and lower halves.
template <class D, class V>
HWY_INLINE void MulWide(D d, V x, V factor, V& upper, V& lower) {
  const hn::RepartitionToWide<D> wide;
  const auto even = hn::MulEven(x, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, x))), factor);
  lower = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  upper = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

// One block a lane. REQUIRES: the lowest word of the counter does not overflow within the lanes.
template <class D>
HWY_INLINE void LaneBlocks(D d, const Philox& stream, uint32_t* out) {
  auto x0 = hn::Iota(d, static_cast<uint32_t>(stream.counter_low()));
  auto x1 = hn::Set(d, static_cast<uint32_t>(stream.counter_low() >> 32));
  auto x2 = hn::Set(d, static_cast<uint32_t>(stream.counter_high()));
  auto x3 = hn::Set(d, static_cast<uint32_t>(stream.counter_high() >> 32));
  const auto m0 = hn::Set(d, Philox::kMultiplier0), m1 = hn::Set(d, Philox::kMultiplier1);
  auto k0 = hn::Set(d, static_cast<uint32_t>(stream.key()));
  auto k1 = hn::Set(d, static_cast<uint32_t>(stream.key() >> 32));
  const auto w0 = hn::Set(d, Philox::kWeyl0), w1 = hn::Set(d, Philox::kWeyl1);
  for (int round = 0; round < Philox::kRounds; ++round) {
    decltype(x0) upper0, lower0, upper1, lower1;
    MulWide(d, x0, m0, upper0, lower0);
    MulWide(d, x2, m1, upper1, lower1);
    x0 = hn::Xor(hn::Xor(upper1, x1), k0);
    x1 = lower1;
    x2 = hn::Xor(hn::Xor(upper0, x3), k1);
    x3 = lower0;
    k0 = hn::Add(k0, w0);
    k1 = hn::Add(k1, w1);
  }
  hn::StoreInterleaved4(x0, x1, x2, x3, d, out);
}
#endif

// Makes as many blocks as a vector has lanes where that can be, else one; returns how many.
HWY_INLINE int64_t SomeBlocks(Philox stream, [[maybe_unused]] int64_t n, uint32_t* out) {
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint32_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const uint32_t lowest = static_cast<uint32_t>(stream.counter_low());
  if (n >= lanes && lowest <= UINT32_MAX - static_cast<uint32_t>(lanes)) {
    LaneBlocks(d, stream, out);
    return lanes;
  }
#endif
  const Philox::Block block = stream.Next();
  std::copy(block.begin(), block.end(), out);
  return 1;
}

void Blocks(const Philox& stream, int64_t n, uint32_t* out) {
  for (int64_t i = 0; i < n;)
    i += SomeBlocks(stream.At(static_cast<uint64_t>(i)), n - i, out + 4 * i);
}

// Four words a block make four floats.
void UniformFloats(const uint32_t* words, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = UnitFloat(words[i]);
}

void NormalFloats(const uint32_t* words, float* out, int64_t n) {
  for (int64_t i = 0; i < n; i += 2) {
    const float unit = UnitFloat(words[i]);
    const float radius = std::sqrt(-2.0f * math::Log(unit < 1e-7f ? 1e-7f : unit));
    const float angle = static_cast<float>(2 * M_PI * UnitFloat(words[i + 1]));
    out[i] = math::FastSin(angle) * radius;
    out[i + 1] = math::FastCos(angle) * radius;
  }
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {
namespace {

HWY_EXPORT(Blocks);
HWY_EXPORT(UniformFloats);
HWY_EXPORT(NormalFloats);

constexpr int64_t kTileBlocks = 256;

// Calls make(words, out, count) for tiles of an output of which a block of words gives kPerBlock
// elements; `words` has whole blocks.
template <int kPerBlock, class T, class F>
void FillTiles(const Philox& stream, T* out, int64_t n, double cost, const ParallelFor& each,
               F make) {
  const int64_t blocks = n / kPerBlock + (n % kPerBlock != 0 ? 1 : 0);
  const auto make_blocks = HWY_DYNAMIC_DISPATCH(Blocks);
  each(
      blocks, cost * kPerBlock + 20,
      [&](int64_t begin, int64_t end) {
        alignas(64) uint32_t words[4 * kTileBlocks];
        for (int64_t at = begin; at < end; at += kTileBlocks) {
          const int64_t count = std::min(kTileBlocks, end - at);
          make_blocks(stream.At(static_cast<uint64_t>(at)), count, words);
          make(words, out + at * kPerBlock, std::min(count * kPerBlock, n - at * kPerBlock));
        }
      },
      kTileBlocks);
}

// How many elements of T a block gives.
template <class T>
constexpr int kElementsPerBlock = sizeof(T) == 8 ? 2 : 4;

double Unit(const uint32_t* words, double) { return UnitDouble(words[0], words[1]); }
// The fraction of a half or bfloat16 after 1.
half Unit(const uint32_t* word, half) {
  const auto bits = static_cast<uint16_t>((*word & 0x3ffu) | 0x3c00u);
  return half(float(half::FromBits(bits)) - 1.0f);
}
bfloat16 Unit(const uint32_t* word, bfloat16) {
  const auto bits = static_cast<uint16_t>((*word & 0x7fu) | 0x3f80u);
  return bfloat16(float(bfloat16::FromBits(bits)) - 1.0f);
}

}  // namespace

void NormalPair(uint32_t radius_bits, uint32_t angle_bits, float out[2]) {
  const float radius = std::sqrt(-2.0f * std::log(std::max(UnitFloat(radius_bits), 1e-7f)));
  const float angle = static_cast<float>(2 * M_PI * UnitFloat(angle_bits));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

void NormalPair(const Philox::Block& block, double out[2]) {
  const double radius = std::sqrt(-2.0 * std::log(std::max(UnitDouble(block[0], block[1]), 1e-7)));
  const double angle = 2 * M_PI * UnitDouble(block[2], block[3]);
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

template <class T>
void FillUniform(const Philox& stream, T* out, int64_t n, const ParallelFor& each) {
  constexpr int kPerBlock = kElementsPerBlock<T>;
  FillTiles<kPerBlock>(stream, out, n, 1, each, [](const uint32_t* words, T* to, int64_t count) {
    if constexpr (std::is_same_v<T, float>) {
      HWY_DYNAMIC_DISPATCH(UniformFloats)(words, to, count);
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = Unit(words + i * 4 / kPerBlock, T());
    }
  });
}

namespace {

// In vectors for float. The 16-bit types take the library's functions: a float that is off in the
// last bit would now and then round to another value.
void NormalTile(const uint32_t* words, float* to, int64_t count) {
  const int64_t even = count / 2 * 2;
  HWY_DYNAMIC_DISPATCH(NormalFloats)(words, to, even);
  if (even == count) return;
  float last[2];
  HWY_DYNAMIC_DISPATCH(NormalFloats)(words + even, last, 2);
  to[even] = last[0];
}
void NormalTile(const uint32_t* words, double* to, int64_t count) {
  for (int64_t i = 0; i < count; i += 2, words += 4) {
    double pair[2];
    NormalPair({words[0], words[1], words[2], words[3]}, pair);
    std::copy_n(pair, std::min<int64_t>(2, count - i), to + i);
  }
}
template <class T>
requires kIsFloat16<T>
void NormalTile(const uint32_t* words, T* to, int64_t count) {
  for (int64_t i = 0; i < count; i += 2) {
    float pair[2];
    NormalPair(words[i], words[i + 1], pair);
    to[i] = T(pair[0]);
    if (i + 1 < count) to[i + 1] = T(pair[1]);
  }
}

// The next numbers of a stream of pairs that are near enough to 0, as many as a group has.
template <class T>
void TruncatedGroup(Philox stream, T (&group)[4]) {
  constexpr int kGroup = kElementsPerBlock<T>;
  // That none of a whole group's reserve of pairs is within 2 happens to no one.
  for (int filled = 0; filled < kGroup;) {
    const Philox::Block block = stream.Next();
    const auto keep = [&](auto pair) {
      for (int i = 0; i < 2; ++i)
        if (std::fabs(pair[i]) < 2 && filled < kGroup) group[filled++] = T(pair[i]);
    };
    if constexpr (std::is_same_v<T, double>) {
      double pair[2];
      NormalPair(block, pair);
      keep(pair);
    } else {
      float pair[2];
      NormalPair(block[0], block[1], pair);
      keep(pair);
      NormalPair(block[2], block[3], pair);
      keep(pair);
    }
  }
}

}  // namespace

template <class T>
void FillNormal(const Philox& stream, T* out, int64_t n, const ParallelFor& each) {
  FillTiles<kElementsPerBlock<T>>(
      stream, out, n, std::is_same_v<T, float> ? 4 : 60, each,
      [](const uint32_t* words, T* to, int64_t count) { NormalTile(words, to, count); });
}

template <class T>
void FillTruncatedNormal(const Philox& stream, T* out, int64_t n, const ParallelFor& each) {
  constexpr int64_t kGroup = kElementsPerBlock<T>;
  constexpr uint64_t kBlocksApart = kTruncatedBlocks * kGroup / 4;
  const int64_t groups = n / kGroup + (n % kGroup != 0 ? 1 : 0);
  each(groups, 100.0 * kGroup, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      T group[4];
      TruncatedGroup(stream.At(static_cast<uint64_t>(g) * kBlocksApart), group);
      std::copy_n(group, std::min(kGroup, n - g * kGroup), out + g * kGroup);
    }
  });
}

template <class U>
void FillBits(const Philox& stream, U* out, int64_t n, const ParallelFor& each) {
  constexpr int kPerBlock = kElementsPerBlock<U>;
  FillTiles<kPerBlock>(stream, out, n, 1, each, [](const uint32_t* words, U* to, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (kPerBlock == 4) {
        to[i] = words[i];
      } else {
        to[i] = words[2 * i] | U{words[2 * i + 1]} << 32;
      }
    }
  });
}

template <class U>
void FillIntegers(const Philox& stream, U low, U range, U* out, int64_t n,
                  const ParallelFor& each) {
  FillBits(stream, out, n, each);
  each(n, 8, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = low + out[i] % range;
  });
}

#define PENSTOCK_FILL(T)                                                     \
  template void FillUniform(const Philox&, T*, int64_t, const ParallelFor&); \
  template void FillNormal(const Philox&, T*, int64_t, const ParallelFor&);  \
  template void FillTruncatedNormal(const Philox&, T*, int64_t, const ParallelFor&);
PENSTOCK_FILL(float)
PENSTOCK_FILL(double)
PENSTOCK_FILL(half)
PENSTOCK_FILL(bfloat16)
#undef PENSTOCK_FILL
#define PENSTOCK_FILL(U)                                                  \
  template void FillBits(const Philox&, U*, int64_t, const ParallelFor&); \
  template void FillIntegers(const Philox&, U, U, U*, int64_t, const ParallelFor&);
PENSTOCK_FILL(uint32_t)
PENSTOCK_FILL(uint64_t)
#undef PENSTOCK_FILL

}  // namespace penstock::kernels
#endif
