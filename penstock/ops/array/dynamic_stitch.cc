#include "penstock/ops/array/dynamic_stitch.h"

#include <algorithm>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/kernels/bucket_order.h"
#include "penstock/ops/array/row_copies.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// The shape of one row: what follows the axes of the indices.
Result<Shape> RowShape(const Shape& indices, const Shape& data, std::string_view what) {
  if (!indices.has_rank() || !data.has_rank()) return Shape::Unknown();
  if (data.rank() < indices.rank() || !data.Slice(0, indices.rank()).IsCompatibleWith(indices)) {
    return InvalidArgument("data's shape must begin with the shape of {}: {} vs {}", what, data,
                           indices);
  }
  return data.Slice(indices.rank(), data.rank());
}

Shape Prepend(int64_t extent, const Shape& row) {
  if (!row.has_rank()) return row;
  Shape shape{extent};
  for (const int64_t dim : row.dims()) shape.Append(dim);
  return shape;
}

// The number of rows that the indices ask for.
Result<int64_t> NumRows(std::span<Tensor* const> indices) {
  int32_t most = -1;
  for (const Tensor* part : indices) {
    for (const int32_t index : part->values<int32_t>()) {
      if (index < 0) return InvalidArgument("indices must not be negative, got {}", index);
      most = std::max(most, index);
    }
  }
  return int64_t{most} + 1;
}

}  // namespace

Result<Shape> InferStitch(std::span<const Known> indices, std::span<const Known> data) {
  Shape row = Shape::Unknown();
  bool is_known = true;
  int64_t rows = 0;
  for (size_t m = 0; m < indices.size(); ++m) {
    TRY_ASSIGN(const Shape one, RowShape(*indices[m].shape, *data[m].shape, "indices"));
    const auto merged = MergeShapes(row, one);
    if (!merged.ok())
      return InvalidArgument("the rows of all data must have one shape: {} vs {}", row, one);
    row = *merged;
    if (indices[m].value == nullptr) {
      is_known = false;
      continue;
    }
    for (const int32_t index : indices[m].value->values<int32_t>())
      rows = std::max(rows, int64_t{index} + 1);
  }
  const Shape shape = Prepend(is_known ? rows : Shape::kUnknownDim, row);
  return shape.has_rank() ? Shape::Make(shape.dims()) : shape;
}

Status Stitch(CpuContext& context, std::span<Tensor* const> indices,
              std::span<Tensor* const> data) {
  TRY_ASSIGN(const int64_t rows, NumRows(indices));
  const Shape row = data[0]->shape().Slice(indices[0]->shape().rank(), data[0]->shape().rank());
  TRY_ASSIGN(const Shape shape, Shape::Make(Prepend(rows, row).dims()));
  TRY(context.AllocateOutput(0, data[0]->dtype(), shape));
  Tensor& merged = context.output(0);
  if (merged.num_elements() == 0) return OkStatus();
  // Which of the rows, counted through all parts, each row of the result comes from.
  TRY_ASSIGN(Tensor winners, context.Allocate(DType::kInt64, Shape{rows}));
  const auto winner = winners.mutable_values<int64_t>();
  std::fill(winner.begin(), winner.end(), -1);
  int64_t number = 0;
  for (const Tensor* part : indices) {
    for (const int32_t index : part->values<int32_t>()) winner[index] = number++;
  }
  if (std::find(winner.begin(), winner.end(), -1) != winner.end())
    ZeroElements(merged, context.parallel());
  const int64_t elements = merged.num_elements() / rows;
  int64_t first = 0;
  for (size_t m = 0; m < indices.size(); ++m) {
    const auto at = indices[m]->values<int32_t>();
    CopyRowsIf(
        *data[m], merged, elements, static_cast<int64_t>(at.size()), context.parallel(),
        [&](int64_t i) { return winner[at[i]] == first + i ? int64_t{at[i]} : int64_t{-1}; });
    first += static_cast<int64_t>(at.size());
  }
  return OkStatus();
}

void StitchGradient(Gradients& g) {
  const int parts = g.num_inputs() / 2;
  for (int m = 0; m < parts; ++m)
    g.Set(parts + m, Op("GatherV2", g.dy(), g.input(m), IntScalar(g.scope(), 0)));
}

Result<Shape> DynamicPartition::InferShape(const Shape& data, const Shape& partitions) const {
  TRY_ASSIGN(const Shape row, RowShape(partitions, data, "partitions"));
  return Prepend(Shape::kUnknownDim, row);
}

Status DynamicPartition::ComputeCpu(CpuContext& context, const Tensor& data,
                                    const Tensor& partitions) const {
  TRY_ASSIGN(const Tensor ids, WidenIndices(context, partitions));
  const int64_t rows = ids.num_elements();
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t id = ids.data<int64_t>()[r];
    if (!InRange(id, num_partitions)) {
      return InvalidArgument("partitions must be in [0, {}), got {} at place {}", num_partitions,
                             id, r);
    }
  }
  TRY_ASSIGN(Tensor order, context.Allocate(DType::kInt64, Shape{rows}));
  std::vector<int64_t> starts(static_cast<size_t>(context.num_outputs()) + 1);
  kernels::OrderByBucket(ids.data<int64_t>(), rows, num_partitions, starts.data(),
                         order.mutable_data<int64_t>());
  const Shape row = data.shape().Slice(partitions.shape().rank(), data.shape().rank());
  const int64_t elements = ProductOf(row, 0, row.rank());
  for (int p = 0; p < context.num_outputs(); ++p) {
    const int64_t count = starts[p + 1] - starts[p];
    TRY(context.AllocateOutput(p, data.dtype(), Prepend(count, row)));
    GatherTensorRows(data, {order.data<int64_t>() + starts[p], static_cast<size_t>(count)},
                     elements, context.output(p), context.parallel());
  }
  return OkStatus();
}

// Numbers dealt out in the same way say where each row of the gradients goes back to.
void DynamicPartition::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const Expr numbers = s.Add(
      "Range",
      {IntScalar(s, 0), Op("Size", g.input(1), {{"out_type", DType::kInt32}}), IntScalar(s, 1)});
  const Expr dealt = Op("DynamicPartition", ReshapeLike(numbers, g.input(1)), g.input(1),
                        {{"num_partitions", num_partitions}});
  std::vector<Expr> inputs;
  for (int p = 0; p < g.num_outputs(); ++p)
    inputs.push_back(dealt.valid() ? dealt.Output(p) : dealt);
  for (int p = 0; p < g.num_outputs(); ++p) inputs.push_back(g.dy(p));
  const Expr rows = s.Add("ParallelDynamicStitch", inputs, {{"N", num_partitions}});
  g.Set(0, ReshapeLike(rows, g.input(0)));
}

void RegisterDynamicStitch(Registrar& registrar) {
  registrar.AddAll<DynamicStitch, ParallelDynamicStitch, DynamicPartition>();
}

}  // namespace penstock::ops
