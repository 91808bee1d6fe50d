#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/few_rows.cc"
#include "penstock/kernels/few_rows.h"

#include "penstock/kernels/targets.h"
// After targets.h, which it obeys.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The sums of two vectors of columns, a pair for each row. A struct of its own for each number of
// rows: vectors of unknown size cannot lie in arrays.
template <int kRows>
struct Sums {
  V low, high;
  Sums<kRows - 1> rest;

  void Start(V first, V second) {
    low = first;
    high = second;
    rest.Start(first, second);
  }
  HWY_INLINE void Add(const float* a, int64_t lda, V first, V second) {
    const V x = hn::Set(D(), *a);
    low = hn::MulAdd(x, first, low);
    high = hn::MulAdd(x, second, high);
    rest.Add(a + lda, lda, first, second);
  }
  void Store(float* c, int64_t ldc) const {
    hn::StoreU(low, D(), c);
    hn::StoreU(high, D(), c + hn::Lanes(D()));
    rest.Store(c + ldc, ldc);
  }
};
template <>
struct Sums<0> {
  void Start(V, V) {}
  HWY_INLINE void Add(const float*, int64_t, V, V) {}
  void Store(float*, int64_t) const {}
};

// kRows rows and two vectors of columns, whose sums stay in registers over all of K.
template <int kRows>
void Tile(const FewRowsProblem& p, int64_t m, int64_t n) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Sums<kRows> sums;
  if (p.bias == nullptr) {
    sums.Start(hn::Zero(d), hn::Zero(d));
  } else {
    sums.Start(hn::LoadU(d, p.bias + n), hn::LoadU(d, p.bias + n + lanes));
  }
  const float* a = p.a + m * p.lda;
  const float* b = p.b + n;
  for (int64_t k = 0; k < p.K; ++k, b += p.ldb) {
    sums.Add(a + k, p.lda, hn::LoadU(d, b), hn::LoadU(d, b + lanes));
  }
  sums.Store(p.c + m * p.ldc + n, p.ldc);
}

void TileOf(const FewRowsProblem& p, int64_t m, int64_t rows, int64_t n) {
  switch (rows) {
    case 1:
      return Tile<1>(p, m, n);
    case 2:
      return Tile<2>(p, m, n);
    case 3:
      return Tile<3>(p, m, n);
    case 4:
      return Tile<4>(p, m, n);
    case 5:
      return Tile<5>(p, m, n);
    case 6:
      return Tile<6>(p, m, n);
    case 7:
      return Tile<7>(p, m, n);
    default:
      return Tile<8>(p, m, n);
  }
}

// Sixteen columns that are one vector: the widest vectors leave them over.
void LastColumns(const FewRowsProblem& p, int64_t n) {
  const hn::CappedTag<float, 16> d;
  for (int64_t m = 0; m < p.M; ++m) {
    for (int64_t at = n; at < p.N; at += static_cast<int64_t>(hn::Lanes(d))) {
      auto sum = p.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, p.bias + at);
      for (int64_t k = 0; k < p.K; ++k) {
        sum = hn::MulAdd(hn::Set(d, p.a[m * p.lda + k]), hn::LoadU(d, p.b + k * p.ldb + at), sum);
      }
      hn::StoreU(sum, d, p.c + m * p.ldc + at);
    }
  }
}

void FewRows(const FewRowsProblem& p) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
  // As many sums as there are registers for: 32, or 16.
  const int64_t step = lanes >= 16 ? 8 : 6;
  int64_t n = 0;
  for (; n + 2 * lanes <= p.N; n += 2 * lanes) {
    for (int64_t m = 0; m < p.M; m += step) TileOf(p, m, p.M - m < step ? p.M - m : step, n);
  }
  if (n < p.N) LastColumns(p, n);
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

HWY_EXPORT(FewRows);

void GemmFewRows(const FewRowsProblem& problem) { HWY_DYNAMIC_DISPATCH(FewRows)(problem); }

}  // namespace penstock::kernels
#endif
