#pragma once

#include <cstdint>

#include "penstock/core/function_ref.h"
#include "penstock/core/parallel.h"

namespace penstock::kernels {

// M rows and N columns of a product, K its inner dimension.
struct QuantizedGemmShape {
  int64_t M = 0;
  int64_t N = 0;
  int64_t K = 0;
};

// Writes rows [begin, begin + rows) of A, K bytes each, to `to`. Numbers that have a sign are
// written plus 128.
using ByteRows = FunctionRef<void(int64_t begin, int64_t rows, uint8_t* to)>;

// B of 8-bit numbers, row-major [K, N] (transposed: [N, K]).
struct QuantizedMatrix {
  const void* data = nullptr;
  bool is_signed = false;
  bool transposed = false;
};

// The scratch memory that QuantizedGemm wants when it is given `threads`, aligned to 64 bytes.
int64_t QuantizedGemmScratch(const QuantizedGemmShape& shape, int threads);

// C = (A - a_offset) * (B - b_offset), row-major, in int32 that wraps. The offset of A is that of
// the bytes that `a` writes. False when the library refused. PENSTOCK_VERBOSE_KERNELS=1 prints
// which implementation ran and why those before it did not.
bool QuantizedGemm(const QuantizedGemmShape& shape, const ByteRows& a, int64_t a_offset,
                   const QuantizedMatrix& b, int64_t b_offset, int32_t* c, void* scratch,
                   const ParallelFor& each);

}  // namespace penstock::kernels
