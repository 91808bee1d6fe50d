#pragma once

#include <cstdint>

#include "penstock/kernels/linalg/decompositions.h"

// Matrices with three diagonals of n: above[i] stands right of main[i], below[i] left of it; the
// last of `above` and the first of `below` lie outside and are not read. T: float, double or a
// complex of either.

namespace penstock::kernels {

template <class T>
struct Tridiagonal {
  const T* above;
  const T* main;
  const T* below;
  int64_t n;
};

// out = a b, where b and out are [n, columns].
template <class T>
void TridiagonalProduct(const Tridiagonal<T>& a, const T* b, int64_t columns, T* out);

// a x = b, by elimination with or without exchange of rows. `scratch` holds 3 n. kSingular when a
// pivot is 0.
template <class T>
Outcome TridiagonalSolve(const Tridiagonal<T>& a, const T* b, int64_t columns, bool pivoting,
                         T* scratch, T* x);

}  // namespace penstock::kernels
