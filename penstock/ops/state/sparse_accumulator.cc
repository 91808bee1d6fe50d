#include <algorithm>

#include "penstock/ops/state/accumulator.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {

Status SparseAccumulator::ApplyGradient(KernelContext& context, int64_t local_step,
                                        const Tensor& indices, const Tensor& values,
                                        const Tensor& shape, bool has_known_shape) {
  return Apply(local_step, [&]() REQUIRES_LOCK(mu_) -> Status {
    TRY(Check(indices, values, shape, has_known_shape));
    return AddRows(context, indices, values);
  });
}

Status SparseAccumulator::Check(const Tensor& indices, const Tensor& values, const Tensor& shape,
                                bool has_known_shape) const {
  if (indices.shape().rank() != 1) {
    return InvalidArgument("Input indices should be vector but received shape: {}",
                           indices.shape());
  }
  const Shape& given = values.shape();
  if (given.rank() == 0) return InvalidArgument("Values cannot be 0-dimensional.");
  if (given[0] != indices.num_elements()) {
    return InvalidArgument("Expected {} non-empty input values, got {}", indices.num_elements(),
                           given[0]);
  }
  const Shape& declared = spec().shape;
  const int rank = std::max(declared.rank(), 0);
  if (has_known_shape) {
    if (shape.shape().rank() != 1) {
      return InvalidArgument("Input shape should be vector but received shape: {}", shape.shape());
    }
    if (rank > shape.num_elements()) {
      return InvalidArgument("Shape mismatch: expected shape rank at least {}, got {}", rank,
                             shape.num_elements());
    }
    for (int i = 0; i < rank; ++i) {
      const int64_t extent = shape.data<int64_t>()[i];
      if (declared[i] < 0 || declared[i] == extent) continue;
      return InvalidArgument("Shape mismatch: expected shape dim {} to be {}, got {}", i,
                             declared[i], extent);
    }
  }
  const int64_t limit = rank > 0 && declared[0] >= 0 ? declared[0] : INT64_MAX;
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t index = indices.data<int64_t>()[i];
    if (InRange(index, limit)) continue;
    return InvalidArgument(
        "Shape mismatch: index of slice {} exceeded limits of shape; index is {} exceeded {}", i,
        index, limit);
  }
  const Shape& expected = values_shape_.has_rank() ? values_shape_ : declared;
  if (values_shape_.has_rank() ? given.rank() != expected.rank() : given.rank() < rank) {
    return InvalidArgument("Shape mismatch: expected values rank {}{}, got {}",
                           values_shape_.has_rank() ? "" : "at least ", expected.rank(),
                           given.rank());
  }
  for (int i = 1; i < expected.rank(); ++i) {
    if (expected[i] < 0 || expected[i] == given[i]) continue;
    return InvalidArgument("Shape mismatch: expected values dim {} to be {}, got {}", i,
                           expected[i], given[i]);
  }
  return OkStatus();
}

// A row that a gradient names twice is summed and counts once: that is what the rows mean.
Status SparseAccumulator::AddRows(KernelContext& context, const Tensor& indices,
                                  const Tensor& values) {
  values_shape_ = values.shape();
  ++gradient_;
  const Shape row_shape = values.shape().Slice(1, values.shape().rank());
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const Tensor given = values.Rows(i, i + 1).Reshaped(row_shape);
    Row& row = rows_[indices.data<int64_t>()[i]];
    if (row.sum.initialized()) {
      TRY(AddTo(context, given, row.sum));
    } else {
      TRY_ASSIGN(row.sum, context.Allocate(given.dtype(), row_shape));
      CopyRun(given, 0, row.sum, 0, given.num_elements(), context.parallel());
    }
    row.count += row.last_gradient != gradient_;
    row.last_gradient = gradient_;
  }
  return OkStatus();
}

// Indices, in order; values; the shape, of which the first extent is known only if it was declared.
Status SparseAccumulator::Give(KernelContext& context, int64_t) {
  const auto num_rows = static_cast<int64_t>(rows_.size());
  std::vector<int64_t> dims(values_shape_.dims().begin(), values_shape_.dims().end());
  dims[0] = num_rows;
  TRY_ASSIGN(const Shape shape, Shape::Make(dims));
  TRY(context.AllocateOutput(0, DType::kInt64, Shape{num_rows}));
  TRY(context.AllocateOutput(1, spec().dtype, shape));
  TRY(context.AllocateOutput(2, DType::kInt64, Shape{shape.rank()}));
  int64_t at = 0;
  for (auto& [index, row] : rows_) {
    if (spec().averages) TRY(DivideBy(context, row.count, row.sum));
    context.output(0).mutable_data<int64_t>()[at] = index;
    const int64_t n = row.sum.num_elements();
    CopyRun(row.sum, 0, context.output(1), at * n, n, context.parallel());
    ++at;
  }
  dims[0] = spec().shape.rank() > 0 ? spec().shape[0] : Shape::kUnknownDim;
  std::copy(dims.begin(), dims.end(), context.output(2).mutable_data<int64_t>());
  rows_.clear();
  values_shape_ = Shape::Unknown();
  return OkStatus();
}

size_t SparseAccumulator::MemoryBytes() const {
  size_t bytes = 0;
  MutexLock lock(mu_);
  for (const auto& [index, row] : rows_) bytes += row.sum.bytes();
  return bytes;
}

}  // namespace penstock::ops
