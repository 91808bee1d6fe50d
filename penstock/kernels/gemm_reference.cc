// Matrix products of any numeric type, compiled once per instruction set.
//
// A block of C is summed in a tile of its own. For every kKc rows of op(B), the panels of A and B
// that meet in the tile are packed: A into strips of kRows rows, B into strips of kColumns columns,
// both running along K and padded with zeros, so that the innermost loop reads each in order and
// keeps kRows x kColumns sums in vector registers. Complex numbers are packed as a plane of real
// and a plane of imaginary parts for each strip.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "penstock/core/dtype.h"
#include "penstock/kernels/gemm_tile.h"
#include "penstock/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/gemm_reference.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

// How a type is summed: in which real type, and in how many planes of it. Unsigned integers wrap as
// signed ones may not.
template <class T>
struct Arithmetic {
  using Real = std::conditional_t<kIsFloat16<T>, float, T>;
  static constexpr int kPlanes = 1;
};
template <>
struct Arithmetic<int32_t> {
  using Real = uint32_t;
  static constexpr int kPlanes = 1;
};
template <>
struct Arithmetic<int64_t> {
  using Real = uint64_t;
  static constexpr int kPlanes = 1;
};
template <class R>
struct Arithmetic<std::complex<R>> {
  using Real = R;
  static constexpr int kPlanes = 2;
};
template <class T>
using RealOf = typename Arithmetic<T>::Real;

template <class T>
PENSTOCK_SCALAR RealOf<T> Plane(const T& value, int plane) {
  if constexpr (Arithmetic<T>::kPlanes == 2) {
    return plane == 0 ? value.real() : value.imag();
  } else {
    return static_cast<RealOf<T>>(value);
  }
}

// c = sum + beta * c, from one sum for each plane.
template <class T>
PENSTOCK_SCALAR void Store(RealOf<T> real, [[maybe_unused]] RealOf<T> imaginary, double beta,
                           T* c) {
  if constexpr (Arithmetic<T>::kPlanes == 2) {
    const auto scale = static_cast<RealOf<T>>(beta);
    *c =
        beta == 0 ? T(real, imaginary) : T(real + scale * c->real(), imaginary + scale * c->imag());
  } else if constexpr (std::is_integral_v<T>) {
    const auto scale = static_cast<RealOf<T>>(static_cast<T>(beta));
    *c = static_cast<T>(beta == 0 ? real : real + scale * static_cast<RealOf<T>>(*c));
  } else {
    const auto scale = static_cast<RealOf<T>>(beta);
    *c = static_cast<T>(beta == 0 ? real : real + scale * static_cast<RealOf<T>>(*c));
  }
}

template <class T>
void Plain(const GemmProblem<T>& p) {
  constexpr int kPlanes = Arithmetic<T>::kPlanes;
  constexpr int64_t kChunk = 128;
  using Real = RealOf<T>;
  const int64_t a_row = p.transpose_a ? 1 : p.lda, a_step = p.transpose_a ? p.lda : 1;
  const int64_t b_column = p.transpose_b ? p.ldb : 1, b_step = p.transpose_b ? 1 : p.ldb;
  for (int64_t m = 0; m < p.M; ++m) {
    for (int64_t n0 = 0; n0 < p.N; n0 += kChunk) {
      Real sums[kPlanes][kChunk];
      const int64_t width = std::min(kChunk, p.N - n0);
      for (auto& plane : sums) std::fill_n(plane, width, Real{0});
      for (int64_t k = 0; k < p.K; ++k) {
        const T left = p.a[m * a_row + k * a_step];
        const T* right = p.b + k * b_step + n0 * b_column;
        if constexpr (kPlanes == 2) {
          for (int64_t n = 0; n < width; ++n) {
            const T y = right[n * b_column];
            sums[0][n] += left.real() * y.real() - left.imag() * y.imag();
            sums[1][n] += left.real() * y.imag() + left.imag() * y.real();
          }
        } else if (b_column == 1) {
          const Real x = Plane(left, 0);
          for (int64_t n = 0; n < width; ++n) sums[0][n] += x * Plane(right[n], 0);
        } else {
          const Real x = Plane(left, 0);
          for (int64_t n = 0; n < width; ++n) sums[0][n] += x * Plane(right[n * b_column], 0);
        }
      }
      for (int64_t n = 0; n < width; ++n) {
        Store(sums[0][n], sums[kPlanes - 1][n], p.beta, &p.c[m * p.ldc + n0 + n]);
      }
    }
  }
}

// The registers hold the sums of a kRows x kColumns block: 12 of 16 vectors, or 24 of the 32 that
// AVX-512 has.
template <class T>
struct Blocking {
  using Real = RealOf<T>;
  static constexpr int kPlanes = Arithmetic<T>::kPlanes;
  static constexpr int kLanes = HWY_MAX_BYTES / sizeof(Real);
  static constexpr int kVectors = 3;
  static constexpr int64_t kColumns = kVectors * kLanes;
  static constexpr int64_t kRows = (HWY_MAX_BYTES == 64 ? 8 : 4) / kPlanes;
  static constexpr int64_t kKc = 128;
  static constexpr int64_t kMc = 96;
  static constexpr int64_t kNc = 192;
  static_assert(kMc % kRows == 0 && kNc % kColumns == 0);
};

constexpr int64_t RoundUp(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// Packs `outer` x `depth` elements at from[o * outer_stride + k * depth_stride] into strips of
// kWidth: to[strip][k][plane][o in strip].
template <class T, int64_t kWidth>
void Pack(const T* from, int64_t outer_stride, int64_t depth_stride, int64_t outer, int64_t depth,
          RealOf<T>* to) {
  constexpr int kPlanes = Arithmetic<T>::kPlanes;
  for (int64_t o = 0; o < outer; o += kWidth) {
    const T* strip = from + o * outer_stride;
    const int64_t width = std::min(kWidth, outer - o);
    if (width < kWidth) std::fill_n(to, kWidth * depth * kPlanes, RealOf<T>{0});
    for (int plane = 0; plane < kPlanes; ++plane) {
      RealOf<T>* at = to + plane * kWidth;
      if (outer_stride == 1 && width == kWidth) {
        for (int64_t k = 0; k < depth; ++k) {
          for (int64_t i = 0; i < kWidth; ++i) {
            at[k * kWidth * kPlanes + i] = Plane(strip[k * depth_stride + i], plane);
          }
        }
      } else {
        for (int64_t i = 0; i < width; ++i) {
          for (int64_t k = 0; k < depth; ++k) {
            at[k * kWidth * kPlanes + i] = Plane(strip[i * outer_stride + k * depth_stride], plane);
          }
        }
      }
    }
    to += kWidth * depth * kPlanes;
  }
}

// tile[kRows][plane][kColumns] (rows `stride` apart) += A strip * B strip, over `depth` steps of K.
template <class T>
void Multiply(const RealOf<T>* a, const RealOf<T>* b, int64_t depth, RealOf<T>* tile,
              int64_t stride) {
  using B = Blocking<T>;
  using Real = RealOf<T>;
  typedef Real Vector __attribute__((vector_size(HWY_MAX_BYTES), aligned(sizeof(Real)), may_alias));
  Vector sums[B::kPlanes][B::kRows][B::kVectors] = {};
  for (int64_t k = 0; k < depth; ++k) {
    Vector right[B::kPlanes][B::kVectors];
#pragma GCC unroll 8
    for (int plane = 0; plane < B::kPlanes; ++plane) {
#pragma GCC unroll 8
      for (int v = 0; v < B::kVectors; ++v) {
        right[plane][v] = *reinterpret_cast<const Vector*>(b + plane * B::kColumns + v * B::kLanes);
      }
    }
#pragma GCC unroll 8
    for (int row = 0; row < B::kRows; ++row) {
      const Real x = a[row];
#pragma GCC unroll 8
      for (int v = 0; v < B::kVectors; ++v) {
        if constexpr (B::kPlanes == 1) {
          sums[0][row][v] += x * right[0][v];
        } else {
          const Real y = a[B::kRows + row];
          sums[0][row][v] += x * right[0][v];
          sums[0][row][v] -= y * right[1][v];
          sums[1][row][v] += x * right[1][v];
          sums[1][row][v] += y * right[0][v];
        }
      }
    }
    a += B::kRows * B::kPlanes;
    b += B::kColumns * B::kPlanes;
  }
#pragma GCC unroll 8
  for (int row = 0; row < B::kRows; ++row) {
#pragma GCC unroll 8
    for (int plane = 0; plane < B::kPlanes; ++plane) {
#pragma GCC unroll 8
      for (int v = 0; v < B::kVectors; ++v) {
        *reinterpret_cast<Vector*>(tile + row * stride + plane * B::kColumns + v * B::kLanes) +=
            sums[plane][row][v];
      }
    }
  }
}

// A block of at most kMc x kNc, summed in `tile` with panels packed into `a_panel` and `b_panel`.
template <class T>
void MultiplyBlock(const GemmProblem<T>& p, RealOf<T>* a_panel, RealOf<T>* b_panel,
                   RealOf<T>* tile) {
  using B = Blocking<T>;
  const int64_t rows = RoundUp(p.M, B::kRows), columns = RoundUp(p.N, B::kColumns);
  const int64_t stride = columns * B::kPlanes;
  const int64_t a_row = p.transpose_a ? 1 : p.lda, a_step = p.transpose_a ? p.lda : 1;
  const int64_t b_column = p.transpose_b ? p.ldb : 1, b_step = p.transpose_b ? 1 : p.ldb;
  std::fill_n(tile, rows * stride, RealOf<T>{0});
  for (int64_t k = 0; k < p.K; k += B::kKc) {
    const int64_t depth = std::min(B::kKc, p.K - k);
    Pack<T, B::kRows>(p.a + k * a_step, a_row, a_step, p.M, depth, a_panel);
    Pack<T, B::kColumns>(p.b + k * b_step, b_column, b_step, p.N, depth, b_panel);
    for (int64_t n = 0; n < columns; n += B::kColumns) {
      for (int64_t m = 0; m < rows; m += B::kRows) {
        Multiply<T>(a_panel + m * depth * B::kPlanes, b_panel + n * depth * B::kPlanes, depth,
                    tile + m * stride + n * B::kPlanes, stride);
      }
    }
  }
  for (int64_t m = 0; m < p.M; ++m) {
    for (int64_t n = 0; n < columns; n += B::kColumns) {
      const RealOf<T>* sums = tile + m * stride + n * B::kPlanes;
      const int64_t width = std::min(B::kColumns, p.N - n);
      T* c = p.c + m * p.ldc + n;
      for (int64_t i = 0; i < width; ++i) {
        Store(sums[i], sums[(B::kPlanes - 1) * B::kColumns + i], p.beta, &c[i]);
      }
    }
  }
}

template <class T>
void Reference(const GemmProblem<T>& p) {
  using B = Blocking<T>;
  const int64_t rows = std::min(B::kMc, RoundUp(p.M, B::kRows));
  const int64_t columns = std::min(B::kNc, RoundUp(p.N, B::kColumns));
  const int64_t depth = std::min(B::kKc, p.K);
  const int64_t size = (rows * depth + columns * depth + rows * columns) * B::kPlanes;
  std::unique_ptr<RealOf<T>[]> panels(new (std::nothrow) RealOf<T>[size]);
  if (!panels) return Plain(p);
  RealOf<T>* a_panel = panels.get();
  RealOf<T>* b_panel = a_panel + rows * depth * B::kPlanes;
  RealOf<T>* tile = b_panel + columns * depth * B::kPlanes;
  for (int64_t m = 0; m < p.M; m += B::kMc) {
    for (int64_t n = 0; n < p.N; n += B::kNc) {
      MultiplyBlock(p.Block(m, std::min(B::kMc, p.M - m), n, std::min(B::kNc, p.N - n)), a_panel,
                    b_panel, tile);
    }
  }
}

}  // namespace

#define PENSTOCK_GEMM(T, Name)                                   \
  void GemmPlain##Name(const GemmProblem<T>& p) { Plain<T>(p); } \
  void GemmReference##Name(const GemmProblem<T>& p) { Reference<T>(p); }
PENSTOCK_GEMM(float, Float)
PENSTOCK_GEMM(double, Double)
PENSTOCK_GEMM(half, Half)
PENSTOCK_GEMM(bfloat16, Bfloat16)
PENSTOCK_GEMM(int32_t, Int32)
PENSTOCK_GEMM(int64_t, Int64)
PENSTOCK_GEMM(complex64, Complex64)
PENSTOCK_GEMM(complex128, Complex128)
#undef PENSTOCK_GEMM

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

#define PENSTOCK_GEMM(T, Name)                     \
  HWY_EXPORT(GemmPlain##Name);                     \
  HWY_EXPORT(GemmReference##Name);                 \
  template <>                                      \
  void GemmPlain<T>(const GemmProblem<T>& p) {     \
    HWY_DYNAMIC_DISPATCH(GemmPlain##Name)(p);      \
  }                                                \
  template <>                                      \
  void GemmReference<T>(const GemmProblem<T>& p) { \
    HWY_DYNAMIC_DISPATCH(GemmReference##Name)(p);  \
  }
PENSTOCK_GEMM(float, Float)
PENSTOCK_GEMM(double, Double)
PENSTOCK_GEMM(half, Half)
PENSTOCK_GEMM(bfloat16, Bfloat16)
PENSTOCK_GEMM(int32_t, Int32)
PENSTOCK_GEMM(int64_t, Int64)
PENSTOCK_GEMM(complex64, Complex64)
PENSTOCK_GEMM(complex128, Complex128)
#undef PENSTOCK_GEMM

}  // namespace penstock::kernels
#endif
