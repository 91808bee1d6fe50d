#pragma once

#include "penstock/ops/op_kernel.h"

// For kernels that are written for float alone and serve narrower types through copies.

namespace penstock::ops {

// `x` as float: itself, or converted. Unimplemented when its elements are no numbers.
Result<Tensor> AsFloat(CpuContext& context, const Tensor& x);
// Converts `from`, of float, to the type of `to`, which has as many elements.
void StoreFloats(CpuContext& context, const Tensor& from, Tensor& to);

}  // namespace penstock::ops
