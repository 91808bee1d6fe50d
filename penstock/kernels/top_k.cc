#include "penstock/kernels/top_k.h"

#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/top_k.cc"
#include "hwy/foreach_target.h"
//
#include <algorithm>
#include <numeric>
#include <vector>

#include "hwy/highway.h"
#include "penstock/core/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

constexpr int64_t kBlock = 64;

// The first element that is not at most `limit`, or n. Nearly all blocks have none.
template <class T>
int64_t FirstAbove(const T* x, int64_t n, T limit) {
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    unsigned above = 0;
    for (int64_t j = 0; j < kBlock; ++j) above |= static_cast<unsigned>(!(x[i + j] <= limit));
    if (above != 0) break;
  }
  while (i < n && x[i] <= limit) ++i;
  return i;
}

}  // namespace

#define PENSTOCK_TOP_K_TYPES(X) \
  X(float, Float)               \
  X(double, Double)             \
  X(half, Half)                 \
  X(bfloat16, Bfloat16)         \
  X(int8_t, Int8)               \
  X(int16_t, Int16)             \
  X(int32_t, Int32)             \
  X(int64_t, Int64)             \
  X(uint8_t, Uint8)             \
  X(uint16_t, Uint16)           \
  X(uint32_t, Uint32)           \
  X(uint64_t, Uint64)
#define PENSTOCK_FIRST_ABOVE(T, Name) \
  int64_t FirstAbove##Name(const T* x, int64_t n, T limit) { return FirstAbove(x, n, limit); }
PENSTOCK_TOP_K_TYPES(PENSTOCK_FIRST_ABOVE)
#undef PENSTOCK_FIRST_ABOVE

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {
namespace {

#define PENSTOCK_FIRST_ABOVE(T, Name)                           \
  HWY_EXPORT(FirstAbove##Name);                                 \
  int64_t FirstAbove(const T* x, int64_t n, T limit) {          \
    return HWY_DYNAMIC_DISPATCH(FirstAbove##Name)(x, n, limit); \
  }
PENSTOCK_TOP_K_TYPES(PENSTOCK_FIRST_ABOVE)
#undef PENSTOCK_FIRST_ABOVE

// Whether element a comes before b. NaNs come last, so that the order is one.
template <class T>
bool Before(const T* row, int64_t a, int64_t b) {
  if (row[a] > row[b]) return true;
  if (row[b] > row[a]) return false;
  const bool a_is_number = row[a] == row[a];
  const bool b_is_number = row[b] == row[b];
  return a_is_number != b_is_number ? a_is_number : a < b;
}

// Leaves the places of the best in best[0, k). `best` has k + 1 places.
template <class T>
void TopOfRow(const T* row, int64_t columns, int64_t k, bool sorted, std::vector<int64_t>& best) {
  const auto before = [row](int64_t a, int64_t b) { return Before(row, a, b); };
  if (k == columns) {
    std::iota(best.begin(), best.begin() + k, 0);
    std::sort(best.begin(), best.begin() + k, before);
    return;
  }
  // A heap of the best so far, the last of them on top; one place is for the heap's making alone.
  std::iota(best.begin(), best.end(), 0);
  std::make_heap(best.begin(), best.end(), before);
  std::pop_heap(best.begin(), best.end(), before);
  for (int64_t c = k + 1; c < columns; ++c) {
    c += FirstAbove(row + c, columns - c, row[best.front()]);
    if (c == columns) break;
    if (!before(c, best.front())) continue;
    std::pop_heap(best.begin(), best.begin() + k, before);
    best[k - 1] = c;
    std::push_heap(best.begin(), best.begin() + k, before);
  }
  if (sorted) std::sort(best.begin(), best.begin() + k, before);
}

}  // namespace

template <class T>
void TopK(const T* in, int64_t rows, int64_t columns, int64_t k, bool sorted,
          FunctionRef<void(int64_t row, std::span<const int64_t> places)> take,
          const ParallelFor& each) {
  const double cost = 2 * static_cast<double>(columns) + 50 * static_cast<double>(k);
  each(rows, cost, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> best(static_cast<size_t>(k) + 1);
    for (int64_t r = begin; r < end; ++r) {
      TopOfRow(in + r * columns, columns, k, sorted, best);
      take(r, {best.data(), static_cast<size_t>(k)});
    }
  });
}

#define PENSTOCK_TOP_K(T, Name)                                    \
  template void TopK<T>(const T*, int64_t, int64_t, int64_t, bool, \
                        FunctionRef<void(int64_t, std::span<const int64_t>)>, const ParallelFor&);
PENSTOCK_TOP_K_TYPES(PENSTOCK_TOP_K)
#undef PENSTOCK_TOP_K

}  // namespace penstock::kernels
#endif  // HWY_ONCE
