#pragma once

#include "penstock/core/status.h"
#include "penstock/ops/op_kernel.h"

namespace penstock::ops {

// Every number that is not quantised, and those of them that have an order.
using PlainNumbers = Types<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t,
                           uint8_t, uint16_t, uint32_t, uint64_t, complex64, complex128>;
using PlainRealNumbers = Types<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t,
                               uint8_t, uint16_t, uint32_t, uint64_t>;

// Calls f.operator()<T>() for the T of `types` that is `dtype`: for kernels that are called with a
// type but are small beside what a class for each would cost. Unimplemented when it is none of
// them.
template <class... Ts, class F>
Status ForDType(DType dtype, Types<Ts...>, F&& f) {
  Status status;
  const bool found =
      ((dtype == kDTypeOf<Ts> && (status = f.template operator()<Ts>(), true)) || ...);
  if (!found) return Unimplemented("there is no CPU kernel for {}", dtype);
  return status;
}

}  // namespace penstock::ops
