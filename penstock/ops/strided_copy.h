#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/core/parallel.h"
#include "penstock/core/tensor.h"

// How the ops that only move elements do it: by the size of an element, whatever its type.

namespace penstock::ops {

// A regular part of a tensor: its first element, and how far one step along each axis goes. All in
// elements.
struct StridedPart {
  int64_t offset = 0;
  std::vector<int64_t> strides;
};

// The steps of a row-major tensor.
std::vector<int64_t> DenseStrides(std::span<const int64_t> dims);
// All of a row-major tensor of these dims.
inline StridedPart DensePart(std::span<const int64_t> dims) { return {0, DenseStrides(dims)}; }

// Copies to[dst] = from[src] for all indices within `dims`. REQUIRES: equal dtypes; both parts lie
// within their tensors; no element of `to` is named twice.
void CopyElements(const Tensor& from, const StridedPart& src, Tensor& to, const StridedPart& dst,
                  std::span<const int64_t> dims, const ParallelFor& each);
// The n elements from `begin` on, to the place from `at` on.
void CopyRun(const Tensor& from, int64_t begin, Tensor& to, int64_t at, int64_t n,
             const ParallelFor& each);
// Writes the only element of `value` everywhere. REQUIRES: equal dtypes.
void FillElements(const Tensor& value, Tensor& to, const ParallelFor& each);
// Writes zeros. Strings and handles are made empty.
void ZeroElements(Tensor& to, const ParallelFor& each);

}  // namespace penstock::ops
