#include "penstock/kernels/transpose_tile.h"

#include <cstring>
#include <utility>

#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/transpose_tile.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#ifndef PENSTOCK_KERNELS_TRANSPOSE_TILE_
#define PENSTOCK_KERNELS_TRANSPOSE_TILE_
namespace penstock::kernels {
// The unsigned integer of a size.
template <int bytes>
struct Bits;
template <>
struct Bits<1> {
  using Type = uint8_t;
};
template <>
struct Bits<2> {
  using Type = uint16_t;
};
template <>
struct Bits<4> {
  using Type = uint32_t;
};
template <>
struct Bits<8> {
  using Type = uint64_t;
};
}  // namespace penstock::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

// Small elements fill 16 bytes with enough of them; larger ones take what there is.
template <int bytes>
constexpr int kVectorBytes = bytes < 4 || HWY_MAX_BYTES < 32 ? 16 : 32;

// Swaps the off-diagonal parts of all 2 x 2 arrangements of step x step elements. Over steps 1, 2,
// 4, ... that transposes a square.
template <size_t step, class Vector, size_t... row, size_t... lane>
[[gnu::always_inline]] inline void SwapParts(Vector* v, std::index_sequence<row...>,
                                             std::index_sequence<lane...>) {
  constexpr size_t n = sizeof...(lane);
  const auto swap = [](Vector & a, Vector & b) __attribute__((always_inline)) {
    const Vector low = __builtin_shufflevector(a, b, (lane & step ? lane - step + n : lane)...);
    b = __builtin_shufflevector(a, b, (lane & step ? lane + n : lane + step)...);
    a = low;
  };
  ((row & step ? void() : swap(v[row & ~step], v[row | step])), ...);
  if constexpr (step * 2 < n) {
    SwapParts<step * 2>(v, std::index_sequence<row...>(), std::index_sequence<lane...>());
  }
}

template <int kBytes>
void Tile(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride,
          int64_t rows, int64_t columns, [[maybe_unused]] bool stream) {
  typedef typename Bits<kBytes>::Type Vector __attribute__((vector_size(kVectorBytes<kBytes>)));
  typedef Vector VectorAnywhere __attribute__((aligned(1), may_alias));
  constexpr int64_t kSide = kVectorBytes<kBytes> / kBytes;
  using Lanes = std::make_index_sequence<kSide>;
  const int64_t full_rows = rows / kSide * kSide;
  const int64_t full_columns = columns / kSide * kSide;
  const bool aligned = (reinterpret_cast<uintptr_t>(dst) | dst_stride) % kVectorBytes<kBytes> == 0;
  stream = stream && aligned;
  for (int64_t r = 0; r < full_rows; r += kSide) {
    for (int64_t c = 0; c < full_columns; c += kSide) {
      Vector v[kSide];
      for (int64_t k = 0; k < kSide; ++k) {
        v[k] = *reinterpret_cast<const VectorAnywhere*>(src + r * kBytes + (c + k) * src_stride);
      }
      SwapParts<1>(v, Lanes(), Lanes());
      std::byte* to = dst + r * dst_stride + c * kBytes;
#if HWY_TARGET != HWY_SCALAR
      if (stream) {
        const hwy::HWY_NAMESPACE::FixedTag<uint8_t, kVectorBytes<kBytes>> bytes;
        for (int64_t k = 0; k < kSide; ++k) {
          const auto line =
              hwy::HWY_NAMESPACE::LoadU(bytes, reinterpret_cast<const uint8_t*>(&v[k]));
          hwy::HWY_NAMESPACE::Stream(line, bytes, reinterpret_cast<uint8_t*>(to + k * dst_stride));
        }
        continue;
      }
#endif
      for (int64_t k = 0; k < kSide; ++k) {
        *reinterpret_cast<VectorAnywhere*>(to + k * dst_stride) = v[k];
      }
    }
  }
  if (stream) hwy::FlushStream();
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t first = r < full_rows ? full_columns : 0;
    for (int64_t c = first; c < columns; ++c) {
      std::memcpy(dst + r * dst_stride + c * kBytes, src + r * kBytes + c * src_stride, kBytes);
    }
  }
}

// Elements of 16 bytes need no shuffles, only that a line of the source is read once: four rows.
template <>
void Tile<16>(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride,
              int64_t rows, int64_t columns, bool /*stream*/) {
  for (int64_t r = 0; r < rows; r += 4) {
    const int64_t height = rows - r < 4 ? rows - r : 4;
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t k = r; k < r + height; ++k) {
        std::memcpy(dst + k * dst_stride + c * 16, src + k * 16 + c * src_stride, 16);
      }
    }
  }
}

}  // namespace

TransposeTileFn TransposeTileFor(int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return &Tile<1>;
    case 2:
      return &Tile<2>;
    case 4:
      return &Tile<4>;
    case 8:
      return &Tile<8>;
    default:
      return &Tile<16>;
  }
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

HWY_EXPORT(TransposeTileFor);
TransposeTileFn TransposeTileOf(int64_t element_bytes) {
  return HWY_DYNAMIC_DISPATCH(TransposeTileFor)(element_bytes);
}

}  // namespace penstock::kernels
#endif
