#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock::ops {

template <class T>
inline constexpr T kLogZero = -std::numeric_limits<T>::infinity();

// log(e^a + e^b). What the lesser term adds is computed in float for double too: stock programs do,
// and losses are compared with theirs.
template <class T>
T LogSum(T a, T b) {
  const T high = std::max(a, b), low = std::min(a, b);
  if (low == kLogZero<T>) return high;
  return high + static_cast<T>(std::log1p(std::exp(static_cast<float>(low - high))));
}

}  // namespace penstock::ops
