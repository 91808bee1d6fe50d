#pragma once

#include <array>
#include <cstdint>

#include "penstock/core/dtype.h"
#include "penstock/core/parallel.h"

namespace penstock::kernels {

// Converts elements of one numeric type to another, as TensorFlow's Cast does:
//  - a float becomes an integer by truncation; what does not fit gives what x86's conversion gives
//    (the lowest integer of 32 bits, or of 64, of which a narrower integer takes the low bits);
//  - integers wrap; anything but zero is true; a complex number gives its real part;
//  - floats round to nearest, ties to even, the 16-bit ones by way of float.
// Copies are cheap. Threads: pure; may run anywhere at once.
class CastFn {
 public:
  // Converts on the calling thread. REQUIRES: `in` and `out` do not overlap.
  void operator()(const void* in, void* out, int64_t n) const;
  // The same on several threads.
  void operator()(const void* in, void* out, int64_t n, const ParallelFor& each) const;

  // False where there is no such conversion: for types that are not numbers.
  explicit operator bool() const { return num_steps_ > 0; }

 private:
  friend CastFn LookupCast(DType from, DType to, bool truncate);
  using StepFn = void (*)(const void* in, void* out, int64_t n);

  // Conversions without a kernel of their own go through others, a block at a time.
  std::array<StepFn, 4> steps_ = {};
  int num_steps_ = 0;
  int64_t in_bytes_ = 0;
  int64_t out_bytes_ = 0;
  int parts_ = 1;  // numbers in an element: 2 where both parts of complex numbers are converted
};

// `truncate` asks that a float be cut to the bits of a shorter one, not rounded.
CastFn LookupCast(DType from, DType to, bool truncate = false);

// Converts n elements on the calling thread.
template <class From, class To>
void Cast(const From* in, To* out, int64_t n) {
  static const CastFn cast = LookupCast(kDTypeOf<From>, kDTypeOf<To>);
  cast(in, out, n);
}

}  // namespace penstock::kernels
