// Products of a few rows by a large matrix: the layers of a small batch. B is read once or a few
// times, so that packing it, which pays for square products, costs as much as the product itself.
//
// B as it is: kRows rows of A by kStrip columns of B have their sums in registers, over kDepth rows
// of B at a time, which the next rows of A find in the cache. B transposed: the same the other way
// round, with rows of B for those of A and A transposed for B.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/gemm_tile.h"
#include "penstock/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/gemm_narrow.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

constexpr int kBytes = HWY_MAX_BYTES < 64 ? HWY_MAX_BYTES : 64;
constexpr int kLanes = kBytes / static_cast<int>(sizeof(float));
typedef float Vector __attribute__((vector_size(kBytes), aligned(sizeof(float)), may_alias));

PENSTOCK_SCALAR const Vector& At(const float* p) { return *reinterpret_cast<const Vector*>(p); }
PENSTOCK_SCALAR Vector& At(float* p) { return *reinterpret_cast<Vector*>(p); }

// Sums take up 24 of 32 registers with AVX-512, 12 of 16 otherwise.
constexpr bool kManyRegisters = kBytes == 64;
constexpr int kRows = 6;
constexpr int kVectors = kManyRegisters ? 4 : 2;
constexpr int kStrip = kVectors * kLanes;
constexpr int64_t kDepth = 256;

// C[R, V vectors] = beta * C + A[R, depth] * B[depth, V vectors].
template <int R, int V>
void MultiplyTile(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t depth, float* c,
                  int64_t ldc, float beta) {
  Vector sums[R][V] = {};
  for (int64_t k = 0; k < depth; ++k) {
    Vector right[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      right[v] = At(b + k * ldb + v * kLanes);
      // The strip that comes next: rows lie too far apart for the hardware to see a pattern.
      __builtin_prefetch(b + k * ldb + (V + v) * kLanes);
    }
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      const float x = a[r * lda + k];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sums[r][v] += x * right[v];
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      Vector& out = At(c + r * ldc + v * kLanes);
      out = beta == 0 ? sums[r][v] : sums[r][v] + beta * out;
    }
  }
}

// The same for any number of rows up to kRows, and columns by whole vectors.
template <int V>
void MultiplyRows(int64_t rows, const float* a, int64_t lda, const float* b, int64_t ldb,
                  int64_t depth, float* c, int64_t ldc, float beta) {
  using Tile =
      void (*)(const float*, int64_t, const float*, int64_t, int64_t, float*, int64_t, float);
  static constexpr Tile kTiles[kRows] = {MultiplyTile<1, V>, MultiplyTile<2, V>,
                                         MultiplyTile<3, V>, MultiplyTile<4, V>,
                                         MultiplyTile<5, V>, MultiplyTile<6, V>};
  for (int64_t m = 0; m < rows; m += kRows) {
    kTiles[std::min<int64_t>(kRows, rows - m) - 1](a + m * lda, lda, b, ldb, depth, c + m * ldc,
                                                   ldc, beta);
  }
}

void MultiplyColumn(const GemmProblem<float>& p, int64_t k, int64_t depth, int64_t n, float beta) {
  for (int64_t m = 0; m < p.M; ++m) {
    float sum = 0;
    for (int64_t i = k; i < k + depth; ++i) sum += p.a[m * p.lda + i] * p.b[i * p.ldb + n];
    float& out = p.c[m * p.ldc + n];
    out = beta == 0 ? sum : sum + beta * out;
  }
}

void NarrowPlain(const GemmProblem<float>& p) {
  for (int64_t k = 0; k < p.K; k += kDepth) {
    const int64_t depth = std::min(kDepth, p.K - k);
    const float beta = k == 0 ? static_cast<float>(p.beta) : 1.f;
    const float* b = p.b + k * p.ldb;
    int64_t n = 0;
    for (; n + kStrip <= p.N; n += kStrip)
      MultiplyRows<kVectors>(p.M, p.a + k, p.lda, b + n, p.ldb, depth, p.c + n, p.ldc, beta);
    for (; n + kLanes <= p.N; n += kLanes)
      MultiplyRows<1>(p.M, p.a + k, p.lda, b + n, p.ldb, depth, p.c + n, p.ldc, beta);
    for (; n < p.N; ++n) MultiplyColumn(p, k, depth, n, beta);
  }
}

// Sums for R rows of B at a time lie in registers, a lane for each row of A.
constexpr int kTallRows = kManyRegisters ? 12 : 6;

// C[m, n + r] = beta * C + the sum over k of b[r, k] * a[k, m], m within V vectors.
template <int R, int V>
void MultiplyTransposed(const GemmProblem<float>& p, const float* a, int64_t lda, int64_t m,
                        int64_t n) {
  float sums[R * V * kLanes];
  MultiplyTile<R, V>(p.b + n * p.ldb, p.ldb, a + m, lda, p.K, sums, V * kLanes, 0);
  const int64_t columns = std::min<int64_t>(V * kLanes, p.M - m);
  for (int64_t i = 0; i < columns; ++i) {
    float* c = p.c + (m + i) * p.ldc + n;
    for (int r = 0; r < R; ++r) {
      const float sum = sums[r * V * kLanes + i];
      c[r] = p.beta == 0 ? sum : sum + static_cast<float>(p.beta) * c[r];
    }
  }
}

// All rows of A by R rows of B from n on; `a` is A transposed, its rows padded to whole vectors.
template <int R>
void MultiplyRowsOfB(const GemmProblem<float>& p, const float* a, int64_t lda, int64_t n) {
  int64_t m = 0;
  if constexpr (R <= kRows) {
    for (; m + kStrip <= lda; m += kStrip) MultiplyTransposed<R, kVectors>(p, a, lda, m, n);
  }
  for (; m + 2 * kLanes <= lda; m += 2 * kLanes) MultiplyTransposed<R, 2>(p, a, lda, m, n);
  for (; m < lda; m += kLanes) MultiplyTransposed<R, 1>(p, a, lda, m, n);
}

void NarrowTransposed(const GemmProblem<float>& p, const float* a, int64_t lda) {
  int64_t n = 0;
  if (lda < kStrip) {
    for (; n + kTallRows <= p.N; n += kTallRows) MultiplyRowsOfB<kTallRows>(p, a, lda, n);
  }
  for (; n + kRows <= p.N; n += kRows) MultiplyRowsOfB<kRows>(p, a, lda, n);
  for (; n < p.N; ++n) MultiplyRowsOfB<1>(p, a, lda, n);
}

}  // namespace

void GemmNarrowFloat(const GemmProblem<float>& p) { NarrowPlain(p); }
void GemmNarrowTransposedFloat(const GemmProblem<float>& p, const float* a, int64_t lda) {
  NarrowTransposed(p, a, lda);
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

HWY_EXPORT(GemmNarrowFloat);
HWY_EXPORT(GemmNarrowTransposedFloat);

void GemmNarrow(const GemmProblem<float>& p) {
  if (!p.transpose_b) return HWY_DYNAMIC_DISPATCH(GemmNarrowFloat)(p);
  constexpr int64_t kWidest = 64 / sizeof(float);  // lanes of any vector
  const int64_t lda = (p.M + kWidest - 1) / kWidest * kWidest;
  std::unique_ptr<float[]> a(new (std::nothrow) float[static_cast<size_t>(lda * p.K)]);
  if (!a) return GemmReference(p);
  for (int64_t k = 0; k < p.K; k += kWidest) {
    const int64_t depth = std::min(kWidest, p.K - k);
    for (int64_t m = 0; m < lda; ++m) {
      float* to = a.get() + k * lda + m;
      for (int64_t i = 0; i < depth; ++i) to[i * lda] = m < p.M ? p.a[m * p.lda + k + i] : 0.f;
    }
  }
  HWY_DYNAMIC_DISPATCH(GemmNarrowTransposedFloat)(p, a.get(), lda);
}

}  // namespace penstock::kernels
#endif
