#include "penstock/ops/sparse/empty_rows.h"

#include <algorithm>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/kernels/bucket_order.h"
#include "penstock/kernels/math_wrap.h"
#include "penstock/ops/array/row_copies.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/sparse/sparse_tensor.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

enum Output { kIndices, kValues, kIsEmpty, kReverseMap };

// Fills the outputs for values whose indices are rows of a matrix, the first column of which is the
// row of the result.
Status Fill(CpuContext& context, const int64_t* indices, int64_t n, int64_t rank, int64_t rows,
            const Shape& indices_shape, const Tensor& values, const Tensor& default_value) {
  const auto bounds = CheckedAdd(rows, 1);
  if (!bounds) return InvalidArgument("{} rows are too many", rows);
  TRY_ASSIGN(Tensor scratch, context.Allocate(DType::kInt64, Shape{2, n}));
  TRY_ASSIGN(Tensor bound, context.Allocate(DType::kInt64, Shape{*bounds}));
  int64_t* const row = scratch.mutable_data<int64_t>();
  int64_t* const order = row + n;
  int64_t* const starts = bound.mutable_data<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    row[i] = indices[i * rank];
    if (!InRange(row[i], rows))
      return InvalidArgument("row {} of value {} is not in [0, {})", row[i], i, rows);
  }
  kernels::OrderByBucket(row, n, rows, starts, order);
  TRY(context.AllocateOutput(kIsEmpty, DType::kBool, Shape{rows}));
  bool* const is_empty = context.output(kIsEmpty).mutable_data<bool>();
  int64_t empty = 0;
  for (int64_t r = 0; r < rows; ++r) {
    is_empty[r] = starts[r] == starts[r + 1];
    empty += is_empty[r] ? 1 : 0;
  }
  Shape shape = indices_shape;
  shape.set_dim(0, n + empty);
  TRY(context.AllocateOutput(kIndices, DType::kInt64, shape));
  TRY(context.AllocateOutput(kValues, values.dtype(), Shape{n + empty}));
  TRY(context.AllocateOutput(kReverseMap, DType::kInt64, Shape{n}));
  int64_t* out = context.output(kIndices).mutable_data<int64_t>();
  int64_t* const map = context.output(kReverseMap).mutable_data<int64_t>();
  Tensor& out_values = context.output(kValues);
  int64_t at = 0;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = starts[r]; k < starts[r + 1]; ++k, ++at, out += rank) {
      std::copy_n(indices + order[k] * rank, rank, out);
      map[order[k]] = at;
    }
    if (!is_empty[r]) continue;
    std::fill_n(out, rank, 0);
    *out = r;
    CopyRun(default_value, 0, out_values, at++, 1, ParallelFor());
    out += rank;
  }
  CopyRowsIf(values, out_values, 1, n, context.parallel(), [map](int64_t i) { return map[i]; });
  return OkStatus();
}

void FillGradient(Gradients& g, std::string_view op) {
  const Expr d = g.scope().Add(op, {g.output(kReverseMap), g.dy(kValues)});
  if (!d.valid()) return;
  g.Set(1, d.Output(0));
  g.Set(3, d.Output(1));
}

}  // namespace

Result<std::array<Shape, 4>> SparseFillEmptyRows::InferShape(const Shape& indices,
                                                             const Shape& values,
                                                             const Integers& dense_shape,
                                                             const Shape& default_value) const {
  TRY_ASSIGN(const int64_t rank, CheckSparse(indices, values, dense_shape.shape()));
  TRY(CheckScalar(default_value, "default_value"));
  if (rank == 0) return InvalidArgument("dense_shape must have at least one extent, got none");
  const int64_t rows = dense_shape.known() ? dense_shape[0] : Shape::kUnknownDim;
  const int64_t count = indices.has_rank() ? indices[0] : Shape::kUnknownDim;
  return std::array<Shape, 4>{Shape{Shape::kUnknownDim, rank}, Shape{Shape::kUnknownDim},
                              Shape{rows}, Shape{count}};
}

void SparseFillEmptyRows::Gradient(Gradients& g) const {
  FillGradient(g, "SparseFillEmptyRowsGrad");
}

Status SparseFillEmptyRows::ComputeCpu(CpuContext& context, const Tensor& indices,
                                       const Tensor& values, const Tensor& dense_shape,
                                       const Tensor& default_value) const {
  TRY_ASSIGN(const std::vector<int64_t> extents, ReadExtents(dense_shape));
  return Fill(context, indices.data<int64_t>(), indices.shape()[0], indices.shape()[1], extents[0],
              indices.shape(), values, default_value);
}

Result<std::array<Shape, 4>> RaggedFillEmptyRows::InferShape(const Shape& value_rowids,
                                                             const Shape& values,
                                                             const Integers& nrows,
                                                             const Shape& default_value) const {
  TRY(CheckVector(value_rowids, "value_rowids"));
  TRY(CheckVector(values, "values"));
  TRY(CheckScalar(nrows.shape(), "nrows"));
  TRY(CheckScalar(default_value, "default_value"));
  if (!value_rowids.IsCompatibleWith(values)) {
    return InvalidArgument("value_rowids must have one row for each value: {} vs {}", value_rowids,
                           values);
  }
  if (nrows.known() && nrows[0] < 0)
    return InvalidArgument("nrows must not be negative, got {}", nrows[0]);
  const int64_t rows = nrows.known() ? nrows[0] : Shape::kUnknownDim;
  return std::array<Shape, 4>{Shape{Shape::kUnknownDim}, Shape{Shape::kUnknownDim}, Shape{rows},
                              value_rowids};
}

void RaggedFillEmptyRows::Gradient(Gradients& g) const {
  FillGradient(g, "RaggedFillEmptyRowsGrad");
}

Status RaggedFillEmptyRows::ComputeCpu(CpuContext& context, const Tensor& value_rowids,
                                       const Tensor& values, const Integers& nrows,
                                       const Tensor& default_value) const {
  return Fill(context, value_rowids.data<int64_t>(), value_rowids.num_elements(), 1, nrows[0],
              value_rowids.shape(), values, default_value);
}

Result<std::array<Shape, 2>> InferFillEmptyRowsGrad(const Shape& reverse_index_map,
                                                    const Shape& grad_values) {
  TRY(CheckVector(reverse_index_map, "reverse_index_map"));
  TRY(CheckVector(grad_values, "grad_values"));
  return std::array<Shape, 2>{reverse_index_map, Shape()};
}

Status FillEmptyRowsGradient(CpuContext& context, const Tensor& reverse_index_map,
                             const Tensor& grad_values, Tensor& d_values, Tensor& d_default_value) {
  const auto map = reverse_index_map.values<int64_t>();
  const int64_t n = grad_values.num_elements();
  TRY_ASSIGN(Tensor seen, context.Allocate(DType::kBool, Shape{n}));
  const auto is_seen = seen.mutable_values<bool>();
  std::fill(is_seen.begin(), is_seen.end(), false);
  for (const int64_t place : map) {
    if (!InRange(place, n))
      return InvalidArgument("reverse_index_map must be in [0, {}), got {}", n, place);
    is_seen[place] = true;
  }
  GatherTensorRows(grad_values, map, 1, d_values, context.parallel());
  return ForDType(grad_values.dtype(), PlainNumbers(), [&]<class T>() {
    ComputeType<T> sum{};
    for (int64_t i = 0; i < n; ++i) {
      if (!is_seen[i]) sum = math::Add(sum, static_cast<ComputeType<T>>(grad_values.data<T>()[i]));
    }
    *d_default_value.mutable_data<T>() = static_cast<T>(sum);
    return OkStatus();
  });
}

void RegisterEmptyRows(Registrar& registrar) {
  registrar.AddAll<SparseFillEmptyRows, SparseFillEmptyRowsGrad, RaggedFillEmptyRows,
                   RaggedFillEmptyRowsGrad>();
}

}  // namespace penstock::ops
