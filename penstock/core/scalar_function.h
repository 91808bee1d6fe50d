#pragma once

// Marks a scalar function that loops are built from. It is inlined into every loop, so that the
// loop's instruction set (Highway's target region on CPUs, the device on CUDA) governs it; a body
// without branches lets the loop be vectorised.
#ifdef __CUDACC__
#define PENSTOCK_SCALAR __host__ __device__ __forceinline__
#else
#define PENSTOCK_SCALAR [[gnu::always_inline]] inline
#endif
