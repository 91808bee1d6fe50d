#include "penstock/ops/slice.h"

#include <algorithm>

#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

Status CheckLength(const Shape& vector, int64_t length, std::string_view what) {
  TRY(CheckVector(vector, what));
  if (!vector.has_rank() || vector[0] < 0 || length < 0 || vector[0] == length) return OkStatus();
  return InvalidArgument("{} must have {} elements, got {}", what, length, vector[0]);
}

// One axis of a Slice: how many elements, or -1 when that is not known.
Result<int64_t> SliceExtent(int64_t extent, int64_t begin, int64_t size, int axis) {
  if (begin < 0 || (extent >= 0 && begin > extent)) {
    return InvalidArgument("begin must be in [0, {}] along axis {}, got {}", extent, axis, begin);
  }
  if (size == -1) return extent < 0 ? Shape::kUnknownDim : extent - begin;
  if (size < -1 || (extent >= 0 && size > extent - begin)) {
    return InvalidArgument("size must be -1 or in [0, {}] along axis {}, got {}", extent - begin,
                           axis, size);
  }
  return size;
}

// True when the plan takes a run of rows along axis 0.
bool IsRun(const Shape& shape, const SlicePlan& plan) {
  if (shape.rank() == 0) return true;
  if (plan.sizes[0] > 1 && plan.steps[0] != 1) return false;
  for (int i = 1; i < shape.rank(); ++i) {
    if (plan.sizes[i] != shape[i] || (plan.sizes[i] > 1 && plan.steps[i] != 1)) return false;
  }
  return true;
}

// Gives output 0 the part that the plan names: shared where it is a run of rows, else copied.
Status TakePart(CpuContext& context, const Tensor& input, const SlicePlan& plan) {
  const Shape& shape = input.shape();
  if (IsRun(shape, plan)) {
    const Tensor rows =
        shape.rank() == 0 ? input : input.Rows(plan.begins[0], plan.begins[0] + plan.sizes[0]);
    context.SetOutput(0, rows.Reshaped(plan.shape));
    return OkStatus();
  }
  TRY(context.AllocateOutput(0, input.dtype(), plan.shape));
  Tensor& output = context.output(0);
  CopyElements(input, SlicedPart(shape, plan), output, DensePart(plan.sizes), plan.sizes,
               context.parallel());
  return OkStatus();
}

SliceMasks MasksOf(const auto& op) {
  return {op.begin_mask, op.end_mask, op.ellipsis_mask, op.new_axis_mask, op.shrink_axis_mask};
}

AttrMap AttrsOf(const auto& op) {
  return {{"begin_mask", op.begin_mask},
          {"end_mask", op.end_mask},
          {"ellipsis_mask", op.ellipsis_mask},
          {"new_axis_mask", op.new_axis_mask},
          {"shrink_axis_mask", op.shrink_axis_mask}};
}

// Whether `value` can be broadcast to `part`: an extent is the same or 1, and those in front that
// the part lacks are 1. Shapes may be partial but have ranks.
bool FitsInto(const Shape& value, const Shape& part) {
  const int more = value.rank() - part.rank();
  for (int axis = 0; axis < value.rank(); ++axis) {
    const int64_t extent = value[axis], wanted = axis < more ? 1 : part[axis - more];
    if (extent >= 0 && extent != 1 && wanted >= 0 && extent != wanted) return false;
  }
  return true;
}

}  // namespace

StridedPart SlicedPart(const Shape& shape, const SlicePlan& plan) {
  StridedPart part = DensePart(shape.dims());
  for (size_t i = 0; i < part.strides.size(); ++i) {
    part.offset += plan.begins[i] * part.strides[i];
    // Where one element or none is taken the step may be absurd, and means nothing.
    part.strides[i] = plan.sizes[i] > 1 ? part.strides[i] * plan.steps[i] : 0;
  }
  return part;
}

Result<int64_t> SliceEntryCount(const Integers& begin, const Integers& end,
                                const Integers& strides) {
  int64_t count = Shape::kUnknownDim;
  for (const Integers* vector : {&begin, &end, &strides}) {
    TRY(CheckLength(vector->shape(), count, "begin, end and strides"));
    if (count < 0 && vector->shape().has_rank()) count = vector->shape()[0];
  }
  return count;
}

Result<Shape> Slice::InferShape(const Shape& input, const Integers& begin,
                                const Integers& size) const {
  TRY(CheckLength(begin.shape(), input.rank(), "begin"));
  TRY(CheckLength(size.shape(), input.rank(), "size"));
  int64_t rank = input.rank();
  for (const Integers* vector : {&begin, &size}) {
    if (rank < 0 && vector->shape().has_rank()) rank = vector->shape()[0];
  }
  if (rank < 0 || rank > Shape::kMaxRank) return Shape::Unknown();
  TRY(CheckLength(begin.shape(), rank, "begin"));
  TRY(CheckLength(size.shape(), rank, "size"));
  Shape shape = Shape::UnknownOfRank(static_cast<int>(rank));
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t extent = input.has_rank() ? input[i] : Shape::kUnknownDim;
    if (begin.known() && size.known()) {
      TRY_ASSIGN(const int64_t taken, SliceExtent(extent, begin[i], size[i], i));
      shape.set_dim(i, taken);
    } else if (size.known()) {
      TRY(SliceExtent(extent, 0, size[i], i));
      shape.set_dim(i, size[i]);
    } else if (begin.known()) {
      TRY(SliceExtent(extent, begin[i], 0, i));
    }
  }
  return Shape::Make(shape.dims());
}

// What was not taken gets zeros before and after.
void Slice::Gradient(Gradients& g) const {
  const Expr begin = g.input(1);
  const Expr after =
      ShapeOf(g.input(0), begin.dtype()) - begin - ShapeOf(g.output(0), begin.dtype());
  g.Set(0, Op("Pad", g.dy(), g.scope().Add("Pack", {begin, after}, {{"axis", 1}})));
}

Status Slice::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& begin,
                         const Integers& size) const {
  SlicePlan plan;
  for (int i = 0; i < input.shape().rank(); ++i) {
    plan.sizes.push_back(size[i] < 0 ? input.shape()[i] - begin[i] : size[i]);
  }
  plan.begins = begin.values();
  plan.steps.assign(plan.sizes.size(), 1);
  plan.shape = Shape(plan.sizes);
  return TakePart(context, input, plan);
}

Result<Shape> StridedSlice::InferShape(const Shape& input, const Integers& begin,
                                       const Integers& end, const Integers& strides) const {
  TRY_ASSIGN(const int64_t count, SliceEntryCount(begin, end, strides));
  if (!input.has_rank() || count < 0) return Shape::Unknown();
  TRY_ASSIGN(SlicePlan plan, PlanSlice(input, begin, end, strides, count, MasksOf(*this)));
  return std::move(plan.shape);
}

void StridedSlice::Gradient(Gradients& g) const {
  // The gradient op knows no 16-bit indices.
  const DType index = g.input(1).dtype() == DType::kInt64 ? DType::kInt64 : DType::kInt32;
  g.Set(0, g.scope().Add("StridedSliceGrad",
                         {ShapeOf(g.input(0), index), CastTo(g.input(1), index),
                          CastTo(g.input(2), index), CastTo(g.input(3), index), g.dy()},
                         AttrsOf(*this)));
}

Status StridedSlice::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& begin,
                                const Integers& end, const Integers& strides) const {
  TRY_ASSIGN(const SlicePlan plan,
             PlanSlice(input.shape(), begin, end, strides, strides.shape()[0], MasksOf(*this)));
  return TakePart(context, input, plan);
}

Result<Shape> StridedSliceGrad::InferShape(const Integers& shape, const Integers& begin,
                                           const Integers& end, const Integers& strides,
                                           const Shape& dy) const {
  TRY(CheckVector(shape.shape(), "shape"));
  TRY_ASSIGN(const Shape to, shape.AsShape());
  TRY_ASSIGN(const int64_t count, SliceEntryCount(begin, end, strides));
  if (!to.has_rank() || count < 0) return to;
  TRY_ASSIGN(const SlicePlan plan, PlanSlice(to, begin, end, strides, count, MasksOf(*this)));
  TRY(MergeShapes(plan.shape, dy));
  return to;
}

void StridedSliceGrad::Gradient(Gradients& g) const {
  g.Set(4, g.scope().Add("StridedSlice", {g.dy(), g.input(1), g.input(2), g.input(3)},
                         AttrsOf(*this)));
}

Status StridedSliceGrad::ComputeCpu(CpuContext& context, const Tensor&, const Integers& begin,
                                    const Integers& end, const Integers& strides, const Tensor& dy,
                                    Tensor& output) const {
  TRY_ASSIGN(const SlicePlan plan,
             PlanSlice(output.shape(), begin, end, strides, strides.shape()[0], MasksOf(*this)));
  ZeroElements(output, context.parallel());
  CopyElements(dy, DensePart(plan.sizes), output, SlicedPart(output.shape(), plan), plan.sizes,
               context.parallel());
  return OkStatus();
}

Result<Shape> TensorStridedSliceUpdate::InferShape(const Shape& input, const Integers& begin,
                                                   const Integers& end, const Integers& strides,
                                                   const Shape& value) const {
  TRY_ASSIGN(const int64_t count, SliceEntryCount(begin, end, strides));
  if (!input.has_rank() || count < 0) return input;
  TRY_ASSIGN(const SlicePlan plan, PlanSlice(input, begin, end, strides, count, MasksOf(*this)));
  if (value.has_rank() && plan.shape.has_rank() && !FitsInto(value, plan.shape))
    return InvalidArgument("value must broadcast to the part {}, got shape {}", plan.shape, value);
  return input;
}

void TensorStridedSliceUpdate::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const AttrMap attrs = AttrsOf(*this);
  const Expr value = g.input(4);
  const Expr part = s.Add("StridedSlice", {g.dy(), g.input(1), g.input(2), g.input(3)}, attrs);
  g.Set(0, s.Add("TensorStridedSliceUpdate",
                 {g.dy(), g.input(1), g.input(2), g.input(3), s.Like(g.dy(), 0)}, attrs));
  // Sums over the axes along which the value was broadcast. It may have more of them, of extent 1.
  const Expr shape = Op("BroadcastArgs", ShapeOf(value), ShapeOf(part));
  const Expr axes = Op("BroadcastGradientArgs", ShapeOf(value), shape);
  g.Set(4, ReshapeLike(Op("Sum", Op("Reshape", part, shape), axes), value));
}

Status TensorStridedSliceUpdate::ComputeCpu(CpuContext& context, const Tensor& input,
                                            const Integers& begin, const Integers& end,
                                            const Integers& strides, const Tensor& value,
                                            Tensor& output) const {
  TRY_ASSIGN(const SlicePlan plan,
             PlanSlice(output.shape(), begin, end, strides, strides.shape()[0], MasksOf(*this)));
  CopyRun(input, 0, output, 0, input.num_elements(), context.parallel());
  Tensor part = value;
  if (!(value.shape() == plan.shape)) {
    // Extents of 1 are read again and again; further ones in front are all 1.
    TRY_ASSIGN(part, context.Allocate(value.dtype(), plan.shape));
    const int more = value.shape().rank() - plan.shape.rank();
    StridedPart from{0, std::vector<int64_t>(static_cast<size_t>(plan.shape.rank()), 0)};
    const std::vector<int64_t> steps = DenseStrides(value.shape().dims());
    for (int axis = std::max(more, 0); axis < value.shape().rank(); ++axis) {
      if (value.shape()[axis] != 1) from.strides[axis - more] = steps[axis];
    }
    CopyElements(value, from, part, DensePart(plan.shape.dims()), plan.shape.dims(),
                 context.parallel());
  }
  CopyElements(part, DensePart(plan.sizes), output, SlicedPart(output.shape(), plan), plan.sizes,
               context.parallel());
  return OkStatus();
}

void RegisterSlice(Registrar& registrar) {
  registrar.AddAll<Slice, StridedSlice, StridedSliceGrad, TensorStridedSliceUpdate>();
}

}  // namespace penstock::ops
