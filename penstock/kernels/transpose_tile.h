#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::kernels {

// Copies element (r, c) of a tile, r < rows and c < columns, from src + r * E + c * src_stride to
// dst + r * dst_stride + c * E, where E is the size of an element and strides are in bytes.
// `stream` keeps what is written out of the caches: for results that are too large for them.
using TransposeTileFn = void (*)(const std::byte* src, int64_t src_stride, std::byte* dst,
                                 int64_t dst_stride, int64_t rows, int64_t columns, bool stream);

// Of this machine's instruction set. REQUIRES: element_bytes is 1, 2, 4, 8 or 16.
TransposeTileFn TransposeTileOf(int64_t element_bytes);

}  // namespace penstock::kernels
