#include "penstock/ops/concat.h"

#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/store_integers.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// The axis that a scalar names, resolved against `rank`.
Result<int> AxisOf(const Integers& axis, int rank) {
  if (rank == 0) return InvalidArgument("scalars cannot be concatenated: pack them");
  return ResolveAxis(axis[0], rank);
}

// `value` as a partial shape that leaves `axis` open.
Shape WithoutExtent(const Shape& value, int axis) {
  Shape shape = value;
  if (shape.has_rank()) shape.set_dim(axis, Shape::kUnknownDim);
  return shape;
}

Result<Shape> InferConcat(std::span<const Known> values, const Integers& axis) {
  // One element, in whatever shape: TensorFlow took a vector of one for the old op.
  const auto count = axis.shape().CheckedNumElements();
  if (count && *count != 1) {
    return InvalidArgument("the axis must be a scalar, got shape {}", axis.shape());
  }
  int rank = Shape::kUnknownRank;
  for (const Known& value : values) {
    if (!value.shape->has_rank()) continue;
    if (rank >= 0 && value.shape->rank() != rank) {
      return InvalidArgument("concatenated tensors must have equal ranks, got {} and {}", rank,
                             value.shape->rank());
    }
    rank = value.shape->rank();
  }
  if (rank < 0) return Shape::Unknown();
  if (!axis.known()) return Shape::UnknownOfRank(rank);
  TRY_ASSIGN(const int along, AxisOf(axis, rank));
  Shape shape = Shape::UnknownOfRank(rank);
  int64_t extent = 0;
  for (const Known& value : values) {
    Result<Shape> merged = MergeShapes(shape, WithoutExtent(*value.shape, along));
    if (!merged.ok()) {
      return InvalidArgument("values must have equal extents outside axis {}, got {} and {}", along,
                             *values[0].shape, *value.shape);
    }
    shape = *std::move(merged);
    const int64_t mine = value.shape->has_rank() ? value.shape->dim(along) : Shape::kUnknownDim;
    if (mine < 0 || extent < 0) {
      extent = Shape::kUnknownDim;
      continue;
    }
    const auto sum = CheckedAdd(extent, mine);
    if (!sum) return InvalidArgument("the extents along axis {} must add up to an int64", along);
    extent = *sum;
  }
  shape.set_dim(along, extent);
  return Shape::Make(shape.dims());
}

Status CopyBeside(CpuContext& context, std::span<Tensor* const> values, const Integers& axis,
                  Tensor& output) {
  TRY_ASSIGN(const int along, AxisOf(axis, output.shape().rank()));
  StridedPart dst = DensePart(output.shape().dims());
  for (const Tensor* value : values) {
    const auto dims = value->shape().dims();
    CopyElements(*value, DensePart(dims), output, dst, dims, context.parallel());
    dst.offset += dims[along] * dst.strides[along];
  }
  return OkStatus();
}

// Each value gets its part of dy back; `first` is the flat position of value 0.
void ConcatGradient(Gradients& g, const Expr& axis, int first, int count) {
  const Scope& scope = g.scope();
  std::vector<Expr> shapes;
  std::vector<Expr> offset_inputs;
  offset_inputs.push_back(CastTo(axis, DType::kInt32));
  for (int i = 0; i < count; ++i) shapes.push_back(ShapeOf(g.input(first + i)));
  offset_inputs.insert(offset_inputs.end(), shapes.begin(), shapes.end());
  const Expr offsets = scope.Add("ConcatOffset", offset_inputs);
  for (int i = 0; i < count; ++i) {
    if (!offsets.valid()) return;
    g.Set(first + i, Op("Slice", g.dy(), offsets.Output(i), shapes[i]));
  }
}

}  // namespace

Result<Shape> ConcatV2::InferShape(std::span<const Known> values, const Integers& axis) const {
  return InferConcat(values, axis);
}

void ConcatV2::Gradient(Gradients& g) const {
  const int count = g.num_inputs() - 1;
  ConcatGradient(g, g.input(count), 0, count);
}

Status ConcatV2::ComputeCpu(CpuContext& context, std::span<Tensor* const> values,
                            const Integers& axis, Tensor& output) const {
  return CopyBeside(context, values, axis, output);
}

Result<Shape> Concat::InferShape(const Integers& concat_dim, std::span<const Known> values) const {
  return InferConcat(values, concat_dim);
}

void Concat::Gradient(Gradients& g) const { ConcatGradient(g, g.input(0), 1, g.num_inputs() - 1); }

Status Concat::ComputeCpu(CpuContext& context, const Integers& concat_dim,
                          std::span<Tensor* const> values, Tensor& output) const {
  return CopyBeside(context, values, concat_dim, output);
}

Result<std::vector<Shape>> ConcatOffset::InferShape(const Shape& concat_dim,
                                                    std::span<const Known> shape) const {
  TRY(CheckScalar(concat_dim, "concat_dim"));
  Shape merged = Shape::UnknownOfRank(1);
  for (const Known& known : shape) {
    TRY(CheckVector(*known.shape, "shape"));
    TRY_ASSIGN(merged, MergeShapes(merged, *known.shape));
  }
  return std::vector<Shape>(shape.size(), merged);
}

// Values of a list are beyond the shape rule: they are checked here.
Status ConcatOffset::ComputeCpu(CpuContext&, const Integers& concat_dim,
                                std::span<Tensor* const> shape, std::span<Tensor> offset) const {
  const int64_t n = shape[0]->num_elements();
  if (n > Shape::kMaxRank) {
    return InvalidArgument("a shape has at most {} dimensions, got {}", Shape::kMaxRank, n);
  }
  TRY_ASSIGN(const int along, ResolveAxis(concat_dim[0], static_cast<int>(n)));
  std::vector<int64_t> at(static_cast<size_t>(n), 0);
  std::vector<int64_t> first;
  for (size_t k = 0; k < shape.size(); ++k) {
    const Integers dims(Known{&shape[k]->shape(), shape[k]->dtype(), shape[k], nullptr});
    if (k == 0) first = dims.values();
    for (int64_t i = 0; i < n; ++i) {
      if (i == along || dims[i] == first[i]) continue;
      return InvalidArgument("shapes must agree outside axis {}, got {} and {} along axis {}",
                             along, first[i], dims[i], i);
    }
    TRY(StoreIntegers(at, offset[k]));
    const auto next = CheckedAdd(at[along], dims[along]);
    if (!next) return InvalidArgument("the extents along axis {} must add up to an int64", along);
    at[along] = *next;
  }
  return OkStatus();
}

Result<Shape> Pack::InferShape(std::span<const Known> values) const {
  Shape shape = Shape::Unknown();
  for (const Known& value : values) {
    TRY_ASSIGN(shape, MergeShapes(shape, *value.shape));
  }
  if (!shape.has_rank()) return shape;
  if (shape.rank() == Shape::kMaxRank) {
    return InvalidArgument("packed tensors must have rank below {}", Shape::kMaxRank);
  }
  TRY_ASSIGN(const int along, ResolveAxis(axis, shape.rank() + 1));
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.insert(dims.begin() + along, static_cast<int64_t>(values.size()));
  return Shape::Make(dims);
}

void Pack::Gradient(Gradients& g) const {
  const Expr parts = Op("Unpack", g.dy(), {{"num", g.num_inputs()}, {"axis", axis}});
  if (!parts.valid()) return;
  for (int i = 0; i < g.num_inputs(); ++i) g.Set(i, parts.Output(i));
}

Status Pack::ComputeCpu(CpuContext& context, std::span<Tensor* const> values,
                        Tensor& output) const {
  TRY_ASSIGN(const int along, ResolveAxis(axis, output.shape().rank()));
  const StridedPart whole = DensePart(output.shape().dims());
  StridedPart dst = whole;
  dst.strides.erase(dst.strides.begin() + along);
  for (const Tensor* value : values) {
    const auto dims = value->shape().dims();
    CopyElements(*value, DensePart(dims), output, dst, dims, context.parallel());
    dst.offset += whole.strides[along];
  }
  return OkStatus();
}

Result<Shape> ParallelConcat::InferShape(std::span<const Known> values) const {
  if (!shape.IsFullyKnown() || shape.rank() == 0)
    return InvalidArgument("shape must be fully known and have a first axis, got {}", shape);
  if (shape[0] != static_cast<int64_t>(values.size())) {
    return InvalidArgument("shape must have a row for each of {} values, got {}", values.size(),
                           shape);
  }
  Shape row = shape;
  row.set_dim(0, 1);
  for (const Known& value : values) {
    if (!row.IsCompatibleWith(*value.shape))
      return InvalidArgument("values must have shape {}, got {}", row, *value.shape);
  }
  return Shape::Make(shape.dims());
}

Status ParallelConcat::ComputeCpu(CpuContext& context, std::span<Tensor* const> values,
                                  Tensor& output) const {
  int64_t at = 0;
  for (const Tensor* value : values) {
    CopyRun(*value, 0, output, at, value->num_elements(), context.parallel());
    at += value->num_elements();
  }
  return OkStatus();
}

void RegisterConcat(Registrar& registrar) {
  registrar.AddAll<ConcatV2, Concat, ConcatOffset, Pack, ParallelConcat>();
}

}  // namespace penstock::ops
