#include "penstock/kernels/row_sums.h"

#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/row_sums.cc"
#include "hwy/foreach_target.h"
//
#include <algorithm>
#include <complex>

#include "hwy/highway.h"
#include "penstock/core/dtype.h"
#include "penstock/kernels/elementwise-inl.h"
#include "penstock/kernels/math_wrap.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

// Columns that are summed side by side: their sums stay in the first cache.
constexpr int64_t kStrip = 256;
// How many rows ahead of the work memory is asked for.
constexpr int64_t kAhead = 8;

// Without the search for infinities that the product of std::complex makes.
template <class A>
PENSTOCK_SCALAR A Product(A x, A y) {
  if constexpr (requires { x.real(); }) {
    return A(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  } else {
    return math::Mul(x, y);
  }
}

template <class T>
void SumStrip(const RowSums<T>& sums, int64_t group, int64_t first, int64_t n, T* out) {
  using A = ComputeType<T>;
  A total[kStrip];
  std::fill_n(total, n, A(0));
  const int64_t end = sums.starts[group + 1];
  for (int64_t k = sums.starts[group]; k < end; ++k) {
    if (k + kAhead < end)
      __builtin_prefetch(sums.table + sums.rows[k + kAhead] * sums.columns + first);
    const T* row = sums.table + sums.rows[k] * sums.columns + first;
    if (sums.weights == nullptr) {
      for (int64_t c = 0; c < n; ++c) total[c] = math::Add(total[c], Load(row + c));
    } else {
      const A weight = sums.weights[k];
      for (int64_t c = 0; c < n; ++c)
        total[c] = math::Add(total[c], Product(weight, Load(row + c)));
    }
  }
  if (sums.scales != nullptr) {
    const A scale = sums.scales[group];
    for (int64_t c = 0; c < n; ++c) total[c] = Product(scale, total[c]);
  }
  for (int64_t c = 0; c < n; ++c) out[c] = static_cast<T>(total[c]);
}

template <class T>
void SumGroups(const RowSums<T>& sums, int64_t begin, int64_t end, T* out) {
  for (int64_t g = begin; g < end; ++g) {
    for (int64_t first = 0; first < sums.columns; first += kStrip) {
      SumStrip(sums, g, first, std::min(kStrip, sums.columns - first),
               out + g * sums.columns + first);
    }
  }
}

}  // namespace

#define PENSTOCK_ROW_SUMS(T, Name)                                                   \
  void SumGroups##Name(const RowSums<T>& sums, int64_t begin, int64_t end, T* out) { \
    SumGroups(sums, begin, end, out);                                                \
  }
#define PENSTOCK_ROW_SUM_TYPES(X) \
  X(float, Float)                 \
  X(double, Double)               \
  X(half, Half)                   \
  X(bfloat16, Bfloat16)           \
  X(int8_t, Int8)                 \
  X(int16_t, Int16)               \
  X(int32_t, Int32)               \
  X(int64_t, Int64)               \
  X(uint8_t, Uint8)               \
  X(uint16_t, Uint16)             \
  X(uint32_t, Uint32)             \
  X(uint64_t, Uint64)             \
  X(complex64, Complex64)         \
  X(complex128, Complex128)
PENSTOCK_ROW_SUM_TYPES(PENSTOCK_ROW_SUMS)
#undef PENSTOCK_ROW_SUMS

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

#define PENSTOCK_ROW_SUMS(T, Name)                                                           \
  HWY_EXPORT(SumGroups##Name);                                                               \
  template <>                                                                                \
  void SumRows<T>(const RowSums<T>& sums, T* out, const ParallelFor& each) {                 \
    if (sums.groups == 0 || sums.columns == 0) return;                                       \
    const double rows = 1 + static_cast<double>(sums.starts[sums.groups] - sums.starts[0]) / \
                                static_cast<double>(sums.groups);                            \
    each(sums.groups, rows*(10 + static_cast<double>(sums.columns)),                         \
         [&](int64_t begin, int64_t end) {                                                   \
           HWY_DYNAMIC_DISPATCH(SumGroups##Name)(sums, begin, end, out);                     \
         });                                                                                 \
  }
PENSTOCK_ROW_SUM_TYPES(PENSTOCK_ROW_SUMS)
#undef PENSTOCK_ROW_SUMS

}  // namespace penstock::kernels
#endif  // HWY_ONCE
