#pragma once

#include <cstdint>

#include "penstock/core/parallel.h"

namespace penstock::kernels {

enum class ScanKind : uint8_t { kSum, kProd, kLogSumExp };

// Writes the running sums, products or logarithms of sums of exponentials of in[outer, :, inner],
// where `in` and `out` are [outer, n, inner]: of the elements up to each one, it included unless
// `exclusive`, from the last to the first when `reverse`. 16-bit floats are accumulated in float,
// integers wrap. The result never depends on the threads. `out` may be `in`. T: any number that is
// not quantised; for logarithms, a real floating-point one.
template <class T>
void Scan(ScanKind kind, bool exclusive, bool reverse, const T* in, int64_t outer, int64_t n,
          int64_t inner, T* out, const ParallelFor& each);

}  // namespace penstock::kernels
