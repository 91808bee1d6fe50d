#pragma once

#include <cstdint>

namespace penstock::kernels {

// One element-wise operation on one run of elements, with its types erased:
//   output[i] = op(inputs[0][i], inputs[1][i], ...)   for i in [0, n),
// where operand k is read at [0] throughout, before anything is written, when bit k of
// `scalar_mask` is set. `output` may be the very pointer of an operand of the same element size,
// and must not otherwise overlap one. Made by Block in elementwise-inl.h.
// Threads: pure; may run anywhere at once.
using BlockFn = void (*)(const void* const* inputs, uint32_t scalar_mask, void* output, int64_t n);

}  // namespace penstock::kernels
