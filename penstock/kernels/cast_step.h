#pragma once

#include <cstdint>

#include "penstock/core/dtype.h"

namespace penstock::kernels {

using CastStepFn = void (*)(const void* in, void* out, int64_t n);

// The kernel that converts between two real types at once, for this machine's instruction set, or
// null: there is one between any two of bool, the integers, float and double, and one between float
// and each 16-bit type.
CastStepFn CastStepOf(DType from, DType to);
// From float or double to a shorter float, cutting what does not fit.
CastStepFn CastTruncateOf(DType from, DType to);
// The real parts of complex numbers whose parts are of type `real`, and complex numbers from them.
CastStepFn CastRealPartOf(DType real);
CastStepFn CastToComplexOf(DType real);

}  // namespace penstock::kernels
