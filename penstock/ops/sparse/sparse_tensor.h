#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "penstock/device/kernel.h"
#include "penstock/graph/infer.h"

// A sparse tensor as ops take it: a matrix of indices with a row for each value, the values, and
// the extents of the whole as a vector. Its extents may be larger than those of any dense tensor.

namespace penstock::ops {

// Checks the three against each other, as far as their shapes are known, and returns the rank of
// the sparse tensor, or -1.
Result<int64_t> CheckSparse(const Shape& indices, const Shape& values, const Shape& extents);
// The same without values.
Result<int64_t> CheckSparse(const Shape& indices, const Shape& extents);

// What is known of the three outputs that a sparse tensor of `count` values is: -1 for unknown.
std::array<Shape, 3> SparseShapes(int64_t count, int64_t rank);

// The extents; none may be negative.
Result<std::vector<int64_t>> ReadExtents(const Tensor& extents);

// The rows of a matrix of indices. Cheap to copy; the tensor must outlive it.
class IndexMatrix {
 public:
  explicit IndexMatrix(const Tensor& indices)
      : data_(indices.data<int64_t>()), rows_(indices.shape()[0]), rank_(indices.shape()[1]) {}
  const int64_t* operator[](int64_t row) const { return data_ + row * rank_; }
  int64_t rows() const { return rows_; }
  int64_t rank() const { return rank_; }
  // -1, 0 or 1: row-major order.
  int Compare(int64_t row, const int64_t* other) const;
  bool InBounds(int64_t row, std::span<const int64_t> extents) const;
  bool IsSorted() const;

 private:
  const int64_t* data_;
  int64_t rows_;
  int64_t rank_;
};

// "indices[3] = [0, 9] is not within [2, 3]".
Status IndexNotWithin(const IndexMatrix& indices, int64_t row, std::span<const int64_t> extents,
                      std::string_view what = "indices");
// Fails unless all of them are within the extents.
Status CheckWithin(const IndexMatrix& indices, std::span<const int64_t> extents,
                   std::string_view what = "indices");

// The rows in row-major order; equal ones keep theirs.
Result<Tensor> SortedOrder(KernelContext& context, const IndexMatrix& indices);

// Output i as a vector of int64.
Status SetVector(KernelContext& context, int i, std::span<const int64_t> values);
// Output i: these elements of a vector.
Status SetElements(KernelContext& context, int i, const Tensor& from,
                   std::span<const int64_t> places);
// Output i: an int64 matrix to be filled.
Result<int64_t*> NewIndices(KernelContext& context, int i, int64_t rows, int64_t rank);

}  // namespace penstock::ops
