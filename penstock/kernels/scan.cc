#include "penstock/kernels/scan.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "penstock/core/dtype.h"
#include "penstock/kernels/math_wrap.h"

namespace penstock::kernels {
namespace {

// Columns that are scanned side by side: their running values stay in cache.
constexpr int64_t kColumns = 256;

template <class T>
using RunningType =
    std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float, T>;

struct RunningSum {
  template <class A>
  static A Start() {
    return A(0);
  }
  template <class A>
  static A Join(A a, A b) {
    return math::Add(a, b);
  }
};
struct RunningProduct {
  template <class A>
  static A Start() {
    return A(1);
  }
  template <class A>
  static A Join(A a, A b) {
    return math::Mul(a, b);
  }
};

struct RunningLogSumExp {
  template <class A>
  static A Start() {
    return -std::numeric_limits<A>::infinity();
  }
  template <class A>
  static A Join(A a, A b) {
    const A high = std::max(a, b), low = std::min(a, b);
    return low == Start<A>() ? high : high + std::log1p(std::exp(low - high));
  }
};

template <class T, class Join>
void ScanColumns(bool exclusive, const T* in, int64_t n, int64_t stride, int64_t columns, T* out) {
  using A = RunningType<T>;
  A running[kColumns];
  std::fill_n(running, columns, Join::template Start<A>());
  for (int64_t k = 0; k < n; ++k, in += stride, out += stride) {
    if (exclusive) {
      for (int64_t c = 0; c < columns; ++c) {
        const A next = Join::Join(running[c], static_cast<A>(in[c]));
        out[c] = static_cast<T>(running[c]);
        running[c] = next;
      }
    } else {
      for (int64_t c = 0; c < columns; ++c) {
        running[c] = Join::Join(running[c], static_cast<A>(in[c]));
        out[c] = static_cast<T>(running[c]);
      }
    }
  }
}

template <class T, class Join>
void ScanAll(bool exclusive, bool reverse, const T* in, int64_t outer, int64_t n, int64_t inner,
             T* out, const ParallelFor& each) {
  const int64_t blocks = (inner + kColumns - 1) / kColumns;
  const int64_t width = std::min(inner, kColumns);
  const double cost = 3.0 * static_cast<double>(n) * static_cast<double>(width);
  each(outer * blocks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i % blocks * kColumns;
      const int64_t at = i / blocks * n * inner + column + (reverse ? (n - 1) * inner : int64_t{0});
      ScanColumns<T, Join>(exclusive, in + at, n, reverse ? -inner : inner,
                           std::min(kColumns, inner - column), out + at);
    }
  });
}

}  // namespace

template <class T>
void Scan(ScanKind kind, bool exclusive, bool reverse, const T* in, int64_t outer, int64_t n,
          int64_t inner, T* out, const ParallelFor& each) {
  if (outer == 0 || n == 0 || inner == 0) return;
  if constexpr (std::is_floating_point_v<RunningType<T>>) {
    if (kind == ScanKind::kLogSumExp)
      return ScanAll<T, RunningLogSumExp>(exclusive, reverse, in, outer, n, inner, out, each);
  }
  if (kind == ScanKind::kSum) {
    ScanAll<T, RunningSum>(exclusive, reverse, in, outer, n, inner, out, each);
  } else {
    ScanAll<T, RunningProduct>(exclusive, reverse, in, outer, n, inner, out, each);
  }
}

#define PENSTOCK_SCAN(T)                                                               \
  template void Scan<T>(ScanKind, bool, bool, const T*, int64_t, int64_t, int64_t, T*, \
                        const ParallelFor&);
PENSTOCK_SCAN(float)
PENSTOCK_SCAN(double)
PENSTOCK_SCAN(half)
PENSTOCK_SCAN(bfloat16)
PENSTOCK_SCAN(int8_t)
PENSTOCK_SCAN(int16_t)
PENSTOCK_SCAN(int32_t)
PENSTOCK_SCAN(int64_t)
PENSTOCK_SCAN(uint8_t)
PENSTOCK_SCAN(uint16_t)
PENSTOCK_SCAN(uint32_t)
PENSTOCK_SCAN(uint64_t)
PENSTOCK_SCAN(complex64)
PENSTOCK_SCAN(complex128)
#undef PENSTOCK_SCAN

}  // namespace penstock::kernels
