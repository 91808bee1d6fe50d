// Chooses the instruction sets that Highway compiles each kernel for: its baseline, AVX2 and
// AVX-512. Include before any header of Highway.
//
// Every target costs compile time and code size, and the finer steps of x86 gain our kernels
// nothing; SSE4 alone is what machines of before 2013 have. In Highway a better target has a lower
// bit, so AVX3 - 1 stands for all that are newer than AVX3, whichever of them this version of
// Highway knows.
#pragma once

// Under a sanitizer the baseline and AVX2 stand for the rest: the source is the same, and the
// instrumented code of four targets takes minutes more.
#ifdef PENSTOCK_SANITIZED
#define HWY_DISABLED_TARGETS ((HWY_AVX3 - 1) | HWY_AVX3 | HWY_SSE4 | HWY_SSSE3)
#else
#define HWY_DISABLED_TARGETS ((HWY_AVX3 - 1) | HWY_SSE4 | HWY_SSSE3)
#endif
