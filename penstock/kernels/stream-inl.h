// Stores that go past the caches, once per instruction set: for outputs that are too large to be
// found there by whoever reads them, so that their lines need not be read before they are written.
#if defined(PENSTOCK_KERNELS_STREAM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_KERNELS_STREAM_INL_H_
#undef PENSTOCK_KERNELS_STREAM_INL_H_
#else
#define PENSTOCK_KERNELS_STREAM_INL_H_
#endif

#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "penstock/core/scalar_function.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

// True when rows of `width` floats of an array of `elements`, from `out` on, are worth it and lie
// so that they can be: aligned, without a rest.
inline bool MayStream(const void* out, int64_t elements, int64_t width) {
  constexpr int64_t kLeast = int64_t{4} << 20;  // 16 MB: more than a core's share of the caches
  return elements >= kLeast && width % 16 == 0 && reinterpret_cast<uintptr_t>(out) % 64 == 0;
}

// REQUIRES: MayStream; n is a multiple of 16. FlushStream must follow before others read.
PENSTOCK_SCALAR void StreamFloats(const float* from, int64_t n, float* to) {
  const hwy::HWY_NAMESPACE::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hwy::HWY_NAMESPACE::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    hwy::HWY_NAMESPACE::Stream(hwy::HWY_NAMESPACE::LoadU(d, from + i), d, to + i);
  }
}

}  // namespace
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
