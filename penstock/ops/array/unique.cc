#include "penstock/ops/array/unique.h"

#include <span>

#include "penstock/ops/array/distinct_items.h"
#include "penstock/ops/array/row_copies.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/store_integers.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// The axis that is asked for. REQUIRES: x of known rank.
Result<int> AxisOf(const Shape& x, std::span<const int64_t> axis) {
  if (axis.empty()) {
    TRY(CheckVector(x, "x"));
    return 0;
  }
  if (axis.size() > 1)
    return InvalidArgument("axis must have at most one element, got {}", axis.size());
  return ResolveAxis(axis[0], x.rank());
}

Result<std::array<Shape, 3>> Infer(const Shape& x, const Integers& axis) {
  TRY(CheckVector(axis.shape(), "axis"));
  std::array<Shape, 3> shapes{x, Shape{Shape::kUnknownDim}, Shape{Shape::kUnknownDim}};
  if (!x.has_rank()) return shapes;
  if (!axis.known()) {
    shapes[0] = Shape::UnknownOfRank(x.rank());
    return shapes;
  }
  TRY_ASSIGN(const int at, AxisOf(x, axis.values()));
  shapes[1] = x.Slice(at, at + 1);
  shapes[0].set_dim(at, Shape::kUnknownDim);
  return shapes;
}

Result<std::array<Shape, 3>> InferVector(const Shape& x) {
  TRY(CheckVector(x, "x"));
  return std::array<Shape, 3>{Shape{Shape::kUnknownDim}, x, Shape{Shape::kUnknownDim}};
}

std::array<Shape, 2> FirstTwo(const std::array<Shape, 3>& shapes) { return {shapes[0], shapes[1]}; }

// Output i: a vector of integers of the type that the node says.
Status StoreOutput(CpuContext& context, int i, DType dtype, std::span<const int64_t> values) {
  TRY(context.AllocateOutput(i, dtype, Shape{static_cast<int64_t>(values.size())}));
  return StoreIntegers(values, context.output(i));
}

// Output i: the slices of `x` at these places of an axis.
Status TakeOutput(CpuContext& context, int i, const Tensor& x, int axis,
                  std::span<const int64_t> places) {
  const int rank = x.shape().rank();
  Shape shape = x.shape();
  shape.set_dim(axis, static_cast<int64_t>(places.size()));
  TRY(context.AllocateOutput(i, x.dtype(), shape));
  Tensor& to = context.output(i);
  const int64_t inner = ProductOf(x.shape(), axis + 1, rank);
  if (axis == 0) {
    GatherTensorRows(x, places, inner, to, context.parallel());
    return OkStatus();
  }
  const int64_t outer = ProductOf(x.shape(), 0, axis);
  const int64_t dims[] = {outer, inner};
  for (size_t k = 0; k < places.size(); ++k) {
    CopyElements(x, {places[k] * inner, {x.shape()[axis] * inner, 1}}, to,
                 {static_cast<int64_t>(k) * inner, {shape[axis] * inner, 1}}, dims,
                 context.parallel());
  }
  return OkStatus();
}

Status FindDistinct(CpuContext& context, DType index_type, const Tensor& x, int axis) {
  TRY_ASSIGN(const Items items, Items::Make(context, x, axis));
  TRY_ASSIGN(ItemTable table, ItemTable::Make(context, items));
  const int64_t n = items.size();
  // For each item its number; for each number its first item, and how many there are.
  TRY_ASSIGN(Tensor scratch, context.Allocate(DType::kInt64, Shape{3, n}));
  const auto numbers = scratch.mutable_values<int64_t>().subspan(0, n);
  const auto firsts = scratch.mutable_values<int64_t>().subspan(n, n);
  const auto counts = scratch.mutable_values<int64_t>().subspan(2 * n, n);
  int64_t distinct = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t found = table.FindOrAdd(i);
    if (found == i) {
      numbers[i] = distinct;
      firsts[distinct] = i;
      counts[distinct++] = 1;
    } else {
      numbers[i] = numbers[found];
      ++counts[numbers[i]];
    }
  }
  TRY(TakeOutput(context, 0, x, axis, firsts.first(distinct)));
  TRY(StoreOutput(context, 1, index_type, numbers));
  if (context.num_outputs() < 3) return OkStatus();
  return StoreOutput(context, 2, index_type, counts.first(distinct));
}

}  // namespace

Result<std::array<Shape, 2>> Unique::InferShape(const Shape& x) const {
  TRY_ASSIGN(const auto shapes, InferVector(x));
  return FirstTwo(shapes);
}
Status Unique::ComputeCpu(CpuContext& context, const Tensor& x) const {
  return FindDistinct(context, out_idx, x, 0);
}

Result<std::array<Shape, 2>> UniqueV2::InferShape(const Shape& x, const Integers& axis) const {
  TRY_ASSIGN(const auto shapes, Infer(x, axis));
  return FirstTwo(shapes);
}
Status UniqueV2::ComputeCpu(CpuContext& context, const Tensor& x, const Integers& axis) const {
  TRY_ASSIGN(const int at, AxisOf(x.shape(), axis.values()));
  return FindDistinct(context, out_idx, x, at);
}

Result<std::array<Shape, 3>> UniqueWithCounts::InferShape(const Shape& x) const {
  return InferVector(x);
}
Status UniqueWithCounts::ComputeCpu(CpuContext& context, const Tensor& x) const {
  return FindDistinct(context, out_idx, x, 0);
}

Result<std::array<Shape, 3>> UniqueWithCountsV2::InferShape(const Shape& x,
                                                            const Integers& axis) const {
  return Infer(x, axis);
}
Status UniqueWithCountsV2::ComputeCpu(CpuContext& context, const Tensor& x,
                                      const Integers& axis) const {
  TRY_ASSIGN(const int at, AxisOf(x.shape(), axis.values()));
  return FindDistinct(context, out_idx, x, at);
}

Result<Shape> ListDiff::InferShape(const Shape& x, const Shape& y) const {
  TRY(CheckVector(x, "x"));
  TRY(CheckVector(y, "y"));
  return Shape{Shape::kUnknownDim};
}
Status ListDiff::ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& y) const {
  TRY_ASSIGN(const Items items, Items::MakeFromTwo(context, y, x));
  TRY_ASSIGN(ItemTable table, ItemTable::Make(context, items));
  const int64_t known = y.num_elements();
  for (int64_t i = 0; i < known; ++i) table.FindOrAdd(i);
  TRY_ASSIGN(Tensor scratch, context.Allocate(DType::kInt64, x.shape()));
  int64_t count = 0;
  for (int64_t i = known; i < items.size(); ++i) {
    if (table.Find(i) == ItemTable::kNone) scratch.mutable_data<int64_t>()[count++] = i - known;
  }
  const auto places = scratch.values<int64_t>().first(count);
  TRY(TakeOutput(context, 0, x, 0, places));
  return StoreOutput(context, 1, out_idx, places);
}

void RegisterUnique(Registrar& registrar) {
  registrar.AddAll<Unique, UniqueV2, UniqueWithCounts, UniqueWithCountsV2, ListDiff>();
}

}  // namespace penstock::ops
