#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/core/tensor.h"
#include "penstock/device/kernel.h"

// Between a batch and its elements: tensors with a first axis, and their rows.

namespace penstock::ops {

// Row i of `batch` with memory of its own, so that one row that stays does not keep the batch.
// REQUIRES: rank >= 1 and i within it.
Result<Tensor> CopyRow(KernelContext& context, const Tensor& batch, int64_t i);

// Stacks every `stride`-th of `elements`, from the first on, along a new first axis. `declared` is
// the shape of an element; extents that it leaves open become those of the largest, and what is
// missing is filled with zeros. REQUIRES: `declared` has a rank and describes each element.
Result<Tensor> StackElements(KernelContext& context, DType dtype, const Shape& declared,
                             std::span<const Tensor> elements, size_t stride);

}  // namespace penstock::ops
