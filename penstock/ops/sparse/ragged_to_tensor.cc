#include <algorithm>
#include <limits>

#include "penstock/ops/array/row_copies.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/sparse/ragged.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

constexpr std::string_view kFirstDim = "FIRST_DIM_SIZE";
constexpr std::string_view kRowIds = "VALUE_ROWIDS";
constexpr std::string_view kSplits = "ROW_SPLITS";

// The splits of rows that are told by the row of each value.
Result<Tensor> SplitsOfRowIds(CpuContext& context, std::span<const int64_t> ids, int64_t rows) {
  TRY_ASSIGN(Tensor splits, context.Allocate(DType::kInt64, Shape{rows + 1}));
  size_t at = 0;
  for (int64_t r = 0; r <= rows; ++r) {
    while (at < ids.size() && ids[at] < r) ++at;
    splits.mutable_data<int64_t>()[r] = static_cast<int64_t>(at);
  }
  if (!std::is_sorted(ids.begin(), ids.end()) || (!ids.empty() && ids[0] < 0) || at < ids.size())
    return InvalidArgument("row ids must be sorted and in [0, {})", rows);
  return splits;
}

// All partitions as splits.
Result<std::vector<Tensor>> ReadPartitions(CpuContext& context,
                                           const std::vector<std::string>& types,
                                           std::span<Tensor* const> partitions,
                                           int64_t num_values) {
  const bool has_rows = types[0] == kFirstDim;
  std::vector<Tensor> splits;
  int64_t rows = -1;
  if (has_rows) {
    TRY_ASSIGN(const Tensor first, WidenIndices(context, *partitions[0]));
    if (first.num_elements() != 1)
      return InvalidArgument("the number of rows must be one number, got shape {}", first.shape());
    rows = *first.data<int64_t>();
    if (rows < 0 || rows == std::numeric_limits<int64_t>::max())
      return InvalidArgument("the number of rows must be positive and not too large, got {}", rows);
  }
  for (size_t k = has_rows ? 1 : 0; k < types.size(); ++k) {
    TRY_ASSIGN(Tensor one, WidenIndices(context, *partitions[k]));
    if (one.shape().rank() != 1)
      return InvalidArgument("a row partition must be a vector, got shape {}", one.shape());
    const int64_t last = one.num_elements();
    if (types[k] == kRowIds) {
      if (rows < 0) return InvalidArgument("row ids need the number of rows in front of them");
      TRY_ASSIGN(one, SplitsOfRowIds(context, one.values<int64_t>(), rows));
      rows = last;
    } else {
      TRY(CheckSplits(one.values<int64_t>(), std::numeric_limits<int64_t>::max()));
      if (one.data<int64_t>()[0] != 0)
        return InvalidArgument("splits must begin with 0, got {}", one.data<int64_t>()[0]);
      if (rows >= 0 && rows != last - 1)
        return InvalidArgument("splits must be of {} rows, got {}", rows, last - 1);
      rows = one.data<int64_t>()[last - 1];
    }
    splits.push_back(std::move(one));
  }
  if (rows != num_values)
    return InvalidArgument("the partitions must end with the number of values {}, got {}",
                           num_values, rows);
  return splits;
}

int64_t LongestRow(std::span<const int64_t> splits) {
  int64_t longest = 0;
  for (size_t i = 1; i < splits.size(); ++i) longest = std::max(longest, splits[i] - splits[i - 1]);
  return longest;
}

// The shape of the result, from what is asked for and the longest rows.
Result<Shape> ResultShape(const Integers& asked, const std::vector<Tensor>& splits,
                          const Shape& values) {
  std::vector<int64_t> dims{splits[0].num_elements() - 1};
  for (const Tensor& split : splits) dims.push_back(LongestRow(split.values<int64_t>()));
  const size_t ragged = dims.size();
  for (int axis = 1; axis < values.rank(); ++axis) dims.push_back(values[axis]);
  if (asked.shape().rank() == 0) return Shape::Make(dims);
  if (asked.size() != dims.size())
    return InvalidArgument("shape must have {} extents, got {}", dims.size(), asked.size());
  for (size_t k = 0; k < dims.size(); ++k) {
    if (asked[k] < 0) continue;
    if (k >= ragged && asked[k] != dims[k])
      return InvalidArgument("extent {} of shape must be {}, got {}", k, dims[k], asked[k]);
    dims[k] = asked[k];
  }
  return Shape::Make(dims);
}

// Where each value goes, counted in rows of the values; -1 for those cut off.
Result<Tensor> PlacesOf(CpuContext& context, const std::vector<Tensor>& splits,
                        const Shape& result) {
  const int64_t rows = splits[0].num_elements() - 1;
  TRY_ASSIGN(Tensor places, context.Allocate(DType::kInt64, Shape{rows}));
  for (int64_t r = 0; r < rows; ++r)
    places.mutable_data<int64_t>()[r] = r < result[0] ? r : int64_t{-1};
  for (size_t k = 0; k < splits.size(); ++k) {
    const auto split = splits[k].values<int64_t>();
    const int64_t extent = result[static_cast<int>(k) + 1];
    TRY_ASSIGN(Tensor next, context.Allocate(DType::kInt64, Shape{split.back()}));
    for (size_t r = 0; r + 1 < split.size(); ++r) {
      const int64_t place = places.data<int64_t>()[r];
      for (int64_t i = split[r]; i < split[r + 1]; ++i) {
        const int64_t at = i - split[r];
        next.mutable_data<int64_t>()[i] =
            place >= 0 && at < extent ? place * extent + at : int64_t{-1};
      }
    }
    places = std::move(next);
  }
  return places;
}

}  // namespace

Status RaggedTensorToTensor::CheckAttrs() const {
  if (row_partition_types.empty()) return InvalidArgument("row_partition_types must not be empty");
  for (size_t k = 0; k < row_partition_types.size(); ++k) {
    const std::string& type = row_partition_types[k];
    if (type != kSplits && type != kRowIds && (type != kFirstDim || k > 0))
      return InvalidArgument("row partition {} must be {}, {} or, the first, {}, got {}", k,
                             kSplits, kRowIds, kFirstDim, type);
  }
  if (row_partition_types.size() == 1 && row_partition_types[0] == kFirstDim)
    return InvalidArgument("row_partition_types must have more than the number of rows");
  return OkStatus();
}

Result<Shape> RaggedTensorToTensor::InferShape(const Integers& shape, const Shape& values,
                                               const Shape& default_value,
                                               std::span<const Known> partitions) const {
  if (partitions.size() != row_partition_types.size()) {
    return InvalidArgument("there must be a partition for each of {} types, got {}",
                           row_partition_types.size(), partitions.size());
  }
  TRY(CheckRankAtLeast(values, 1, "values"));
  if (shape.shape().has_rank() && shape.shape().rank() > 1)
    return InvalidArgument("shape must be a vector or -1, got shape {}", shape.shape());
  if (values.has_rank() && default_value.has_rank()) {
    const Shape inner = values.Slice(1, values.rank());
    const auto together = BroadcastShapes(inner, default_value);
    if (!together.ok() || default_value.rank() > inner.rank() ||
        !inner.IsCompatibleWith(*together)) {
      return InvalidArgument("default_value must broadcast to {}, got shape {}", inner,
                             default_value);
    }
  }
  if (!shape.known()) return Shape::Unknown();
  if (shape.shape().rank() == 0) {
    if (shape[0] != -1) return InvalidArgument("shape must be a vector or -1, got {}", shape[0]);
    return Shape::Unknown();
  }
  const int ragged =
      static_cast<int>(row_partition_types.size()) - (row_partition_types[0] == kFirstDim ? 1 : 0);
  if (values.has_rank() && static_cast<int64_t>(shape.size()) != ragged + values.rank()) {
    return InvalidArgument("shape must have {} extents, got {}", ragged + values.rank(),
                           shape.size());
  }
  std::vector<int64_t> dims;
  for (const int64_t extent : shape.values()) dims.push_back(std::max<int64_t>(extent, -1));
  return Shape::Make(dims);
}

Status RaggedTensorToTensor::ComputeCpu(CpuContext& context, const Integers& shape,
                                        const Tensor& values, const Tensor& default_value,
                                        std::span<Tensor* const> partitions) const {
  TRY_ASSIGN(const std::vector<Tensor> splits,
             ReadPartitions(context, row_partition_types, partitions, values.shape()[0]));
  TRY_ASSIGN(const Shape result, ResultShape(shape, splits, values.shape()));
  TRY(context.AllocateOutput(0, values.dtype(), result));
  Tensor& output = context.output(0);
  if (output.num_elements() == 0) return OkStatus();
  // The default everywhere, broadcast to the inner axes.
  const auto dims = result.dims();
  StridedPart from{0, std::vector<int64_t>(dims.size(), 0)};
  const std::vector<int64_t> strides = DenseStrides(default_value.shape().dims());
  const size_t outer = dims.size() - strides.size();
  for (size_t k = 0; k < strides.size(); ++k) {
    if (default_value.shape()[static_cast<int>(k)] != 1) from.strides[outer + k] = strides[k];
  }
  CopyElements(default_value, from, output, DensePart(dims), dims, context.parallel());
  TRY_ASSIGN(const Tensor places, PlacesOf(context, splits, result));
  const int64_t* place = places.data<int64_t>();
  CopyRowsIf(values, output, ProductOf(values.shape(), 1, values.shape().rank()), values.shape()[0],
             context.parallel(), [place](int64_t i) { return place[i]; });
  return OkStatus();
}

// The numbers of the values laid out in the same way say where each gradient goes back to.
void RaggedTensorToTensor::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const Expr values = g.input(1), dy = g.dy();
  const Expr count =
      Op("Reshape", Op("Slice", ShapeOf(values), IntVector(s, {0}), IntVector(s, {1})),
         IntVector(s, {}));
  const int ragged =
      static_cast<int>(row_partition_types.size()) - (row_partition_types[0] == kFirstDim ? 1 : 0);
  const Expr outer = Op("Slice", ShapeOf(dy), IntVector(s, {0}), IntVector(s, {ragged + 1}));
  const Expr inner = Op("Slice", ShapeOf(values), IntVector(s, {1}), IntVector(s, {-1}));
  std::vector<Expr> inputs{CastTo(outer, g.input(0).dtype()),
                           s.Add("Range", {IntScalar(s, 0), count, IntScalar(s, 1)}),
                           IntScalar(s, -1)};
  for (int i = 3; i < g.num_inputs(); ++i) inputs.push_back(g.input(i));
  const Expr numbers =
      Op("Reshape",
         s.Add("RaggedTensorToTensor", inputs, {{"row_partition_types", row_partition_types}}),
         IntVector(s, {-1}));
  const Expr size = Op("Reshape", Op("Size", numbers), IntVector(s, {1}));
  const Expr by_row =
      Op("Reshape", dy, s.Add("ConcatV2", {size, inner, IntScalar(s, 0)}, {{"N", 2}}));
  g.Set(1, Op("UnsortedSegmentSum", by_row, numbers, count));
  // The others are the default's: numbers of -1 become a segment, all else is left out.
  const Expr is_default = Op("Equal", numbers, IntScalar(s, -1));
  const Expr filled =
      Op("UnsortedSegmentSum", by_row,
         Op("SelectV2", is_default, IntScalar(s, 0), IntScalar(s, -1)), IntScalar(s, 1));
  const Expr sum = Op("Reshape", filled, inner);
  const Expr axes = Op("BroadcastGradientArgs", ShapeOf(g.input(2)), ShapeOf(sum));
  g.Set(2, ReshapeLike(Op("Sum", sum, axes), g.input(2)));
}

}  // namespace penstock::ops
