#pragma once

#include <cstdint>

#include "penstock/core/float16.h"
#include "penstock/core/parallel.h"
#include "penstock/kernels/philox.h"

// Fills memory with numbers of one distribution, drawn from a stream of random blocks. What element
// i becomes depends on the stream and i alone, however the work is shared out.

namespace penstock::kernels {

// In [0, 1), in steps of the type's precision at 1. For float, double, half and bfloat16.
template <class T>
void FillUniform(const Philox& stream, T* out, int64_t n, const ParallelFor& each);

// Of mean 0 and deviation 1, by the transform of Box and Muller.
template <class T>
void FillNormal(const Philox& stream, T* out, int64_t n, const ParallelFor& each);

// The same without what is 2 or more from 0. A group of four numbers (two of double) begins every
// kTruncatedBlocks blocks (half as many for double), which is more than it ever takes.
template <class T>
void FillTruncatedNormal(const Philox& stream, T* out, int64_t n, const ParallelFor& each);
inline constexpr int64_t kTruncatedBlocks = 256;

// All bits. For unsigned integers of 32 and 64 bits.
template <class U>
void FillBits(const Philox& stream, U* out, int64_t n, const ParallelFor& each);

// low + bits % range, which wraps around. REQUIRES: range > 0.
template <class U>
void FillIntegers(const Philox& stream, U low, U range, U* out, int64_t n, const ParallelFor& each);

// One pair of independent normal numbers.
void NormalPair(uint32_t radius_bits, uint32_t angle_bits, float out[2]);
void NormalPair(const Philox::Block& block, double out[2]);

}  // namespace penstock::kernels
