#include "penstock/kernels/linalg/tridiagonal.h"

#include <algorithm>
#include <cmath>

namespace penstock::kernels {

template <class T>
void TridiagonalProduct(const Tridiagonal<T>& a, const T* b, int64_t columns, T* out) {
  for (int64_t i = 0; i < a.n; ++i) {
    const T* row = b + i * columns;
    T* to = out + i * columns;
    for (int64_t c = 0; c < columns; ++c) to[c] = a.main[i] * row[c];
    if (i + 1 < a.n) {
      for (int64_t c = 0; c < columns; ++c) to[c] += a.above[i] * row[c + columns];
    }
    if (i > 0) {
      for (int64_t c = 0; c < columns; ++c) to[c] += a.below[i] * row[c - columns];
    }
  }
}

template <class T>
Outcome TridiagonalSolve(const Tridiagonal<T>& a, const T* b, int64_t columns, bool pivoting,
                         T* scratch, T* x) {
  const int64_t n = a.n;
  // The upper triangle: exchanging rows fills a second diagonal above the main one.
  T* main = scratch;
  T* above = main + n;
  T* second = above + n;
  main[0] = a.main[0];
  above[0] = n > 1 ? a.above[0] : T(0);
  second[0] = T(0);
  std::copy_n(b, columns, x);
  for (int64_t i = 0; i + 1 < n; ++i) {
    const T below = a.below[i + 1];
    const T next_above = i + 2 < n ? a.above[i + 1] : T(0);
    const T* b_next = b + (i + 1) * columns;
    T* row = x + i * columns;
    T* next = row + columns;
    second[i + 1] = T(0);
    if (!pivoting || std::abs(main[i]) >= std::abs(below)) {
      if (main[i] == T(0)) return Outcome::kSingular;
      const T factor = below / main[i];
      main[i + 1] = a.main[i + 1] - factor * above[i];
      above[i + 1] = next_above;
      for (int64_t c = 0; c < columns; ++c) next[c] = b_next[c] - factor * row[c];
    } else {
      const T factor = main[i] / below;
      main[i + 1] = above[i] - factor * a.main[i + 1];
      above[i + 1] = -factor * next_above;
      main[i] = below;
      above[i] = a.main[i + 1];
      second[i] = next_above;
      for (int64_t c = 0; c < columns; ++c) {
        const T old = row[c];
        row[c] = b_next[c];
        next[c] = old - factor * b_next[c];
      }
    }
  }
  for (int64_t i = n - 1; i >= 0; --i) {
    if (main[i] == T(0)) return Outcome::kSingular;
    T* row = x + i * columns;
    for (int64_t c = 0; c < columns; ++c) {
      T value = row[c];
      if (i + 1 < n) value -= above[i] * row[c + columns];
      if (i + 2 < n) value -= second[i] * row[c + 2 * columns];
      row[c] = value / main[i];
    }
  }
  return Outcome::kOk;
}

#define INSTANTIATE(...)                                                                          \
  template void TridiagonalProduct(const Tridiagonal<__VA_ARGS__>&, const __VA_ARGS__*, int64_t,  \
                                   __VA_ARGS__*);                                                 \
  template Outcome TridiagonalSolve(const Tridiagonal<__VA_ARGS__>&, const __VA_ARGS__*, int64_t, \
                                    bool, __VA_ARGS__*, __VA_ARGS__*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)

}  // namespace penstock::kernels
