#pragma once

#include <memory>
#include <span>

#include "penstock/ops/elementwise.h"

// Element-wise work on values that are objects and not bytes: strings.

namespace penstock {

// Computes one element from the operands' elements.
using ObjectFn = void (*)(const void* const* operands, void* result);

// The kernel of a node that broadcasts its operands.
Result<std::unique_ptr<Kernel>> MakeObjectKernel(ObjectFn function, InferFn infer,
                                                 const KernelRequest& request);

// Calls `function` for each element of `result`, with the elements of `inputs` that `shapes`,
// broadcast, put there. REQUIRES: an input for each of `shapes`, as large as it; they broadcast to
// the shape of `result`; at most 3.
void RunObjects(ObjectFn function, std::span<Tensor* const> inputs, std::span<const Shape> shapes,
                Tensor& result);

}  // namespace penstock
