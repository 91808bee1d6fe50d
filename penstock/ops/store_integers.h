#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "penstock/core/tensor.h"

namespace penstock::ops {

// Writes `values` into an int32 or int64 tensor of as many elements; fails when one does not fit.
inline Status StoreIntegers(std::span<const int64_t> values, Tensor& to) {
  const int64_t n = static_cast<int64_t>(values.size());
  if (to.dtype() == DType::kInt64) {
    for (int64_t i = 0; i < n; ++i) to.mutable_data<int64_t>()[i] = values[i];
    return OkStatus();
  }
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  for (int64_t i = 0; i < n; ++i) {
    if (values[i] > kMax || values[i] < -kMax - 1) {
      return InvalidArgument("the value must fit in int32, got {}: ask for int64", values[i]);
    }
    to.mutable_data<int32_t>()[i] = static_cast<int32_t>(values[i]);
  }
  return OkStatus();
}

}  // namespace penstock::ops
