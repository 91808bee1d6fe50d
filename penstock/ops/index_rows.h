#pragma once

#include <string>

#include "penstock/device/kernel.h"

// Indices of several axes at once, as GatherNd and ScatterNd take them: a tensor [..., K] whose
// rows each name a slice of the first K axes.

namespace penstock::ops {

// For each row the position of the slice it names, counted in slices; -1 for rows out of bounds,
// which are an error unless `ignore_bad`. `indices` is of any integer type. An int64 vector in the
// step's memory. REQUIRES: indices has rank >= 1 and K <= dims.size().
Result<Tensor> SlicePositions(KernelContext& context, const Tensor& indices, const Shape& shape,
                              bool ignore_bad);

// A vector of indices as int64. Shares int64 tensors.
Result<Tensor> WidenIndices(KernelContext& context, const Tensor& indices);

// Checks that `updates` hold one slice of `output` for each row of indices. Shapes may be partial.
Status CheckSliceUpdates(const Shape& indices, const Shape& updates, const Shape& output);

// TensorFlow's words for the element at `position` that is not in [0, limit):
// "indices[2] = 9 is not in [0, 5)".
Status IndexOutOfRange(const Shape& indices, int64_t position, int64_t index, int64_t limit);

// The product of the extents [begin, end). REQUIRES: a full shape within Shape::Make's limits.
int64_t ProductOf(const Shape& shape, int begin, int end);

// "", "DEFAULT", "ERROR" or "IGNORE".
Status CheckBadIndicesPolicy(const std::string& policy);

}  // namespace penstock::ops
