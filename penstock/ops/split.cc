#include "penstock/ops/split.h"

#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

Status CheckOneElement(const Integers& axis) {
  const auto count = axis.shape().CheckedNumElements();
  if (!count || *count == 1) return OkStatus();
  return InvalidArgument("split_dim must have one element, got shape {}", axis.shape());
}

Result<int> AxisOf(const Integers& axis, int rank) {
  if (rank == 0) return InvalidArgument("a scalar cannot be split");
  return ResolveAxis(axis[0], rank);
}

// As many partial shapes of the value's rank.
std::vector<Shape> UnknownParts(const Shape& value, int64_t count) {
  return std::vector<Shape>(static_cast<size_t>(count), value.has_rank()
                                                            ? Shape::UnknownOfRank(value.rank())
                                                            : Shape::Unknown());
}

// The extents of the parts along an axis of `extent` (or unknown) elements.
Result<std::vector<int64_t>> PartExtents(const Integers& sizes, int64_t extent) {
  std::vector<int64_t> extents = sizes.values();
  int64_t sum = 0;
  int64_t* open = nullptr;
  for (int64_t& size : extents) {
    if (size < -1) return InvalidArgument("size_splits must be at least -1, got {}", size);
    if (size == -1) {
      if (open) return InvalidArgument("only one of size_splits may be -1");
      open = &size;
      continue;
    }
    const auto next = CheckedAdd(sum, size);
    if (!next) return InvalidArgument("size_splits must add up to an int64");
    sum = *next;
  }
  if (extent < 0) return extents;
  if (open ? sum > extent : sum != extent) {
    return InvalidArgument("size_splits must add up to {}{}, got {}", open ? "at most " : "",
                           extent, sum);
  }
  if (open) *open = extent - sum;
  return extents;
}

// Copies successive parts along `axis` into the outputs, whose extents say how much each takes.
void CopyApart(CpuContext& context, const Tensor& value, int axis, std::span<Tensor> output) {
  StridedPart src = DensePart(value.shape().dims());
  for (Tensor& part : output) {
    const auto dims = part.shape().dims();
    CopyElements(value, src, part, DensePart(dims), dims, context.parallel());
    src.offset += dims[axis] * src.strides[axis];
  }
}

// The parts of the gradient put together again.
Expr JoinGradients(const Gradients& g, const Expr& axis) {
  if (g.num_outputs() == 1) return g.dy();
  std::vector<Expr> inputs;
  for (int i = 0; i < g.num_outputs(); ++i) inputs.push_back(g.dy(i));
  inputs.push_back(axis);
  return g.scope().Add("ConcatV2", inputs);
}

}  // namespace

Result<std::vector<Shape>> Split::InferShape(const Integers& split_dim, const Shape& value) const {
  TRY(CheckOneElement(split_dim));
  if (!split_dim.known() || !value.has_rank()) return UnknownParts(value, num_split);
  TRY_ASSIGN(const int axis, AxisOf(split_dim, value.rank()));
  Shape part = value;
  if (value[axis] >= 0) {
    if (value[axis] % num_split != 0) {
      return InvalidArgument("the extent of axis {} must be a multiple of num_split {}, got {}",
                             axis, num_split, value[axis]);
    }
    part.set_dim(axis, value[axis] / num_split);
  }
  return std::vector<Shape>(static_cast<size_t>(num_split), part);
}

void Split::Gradient(Gradients& g) const { g.Set(1, JoinGradients(g, g.input(0))); }

Status Split::ComputeCpu(CpuContext& context, const Integers& split_dim, const Tensor& value,
                         std::span<Tensor> output) const {
  TRY_ASSIGN(const int axis, AxisOf(split_dim, value.shape().rank()));
  CopyApart(context, value, axis, output);
  return OkStatus();
}

Result<std::vector<Shape>> SplitV::InferShape(const Shape& value, const Integers& size_splits,
                                              const Integers& split_dim) const {
  TRY(CheckOneElement(split_dim));
  TRY(CheckVector(size_splits.shape(), "size_splits"));
  const Shape& count = size_splits.shape();
  if (count.has_rank() && count[0] >= 0 && count[0] != num_split) {
    return InvalidArgument("size_splits must have num_split {} elements, got {}", num_split,
                           count[0]);
  }
  if (!split_dim.known() || !value.has_rank()) return UnknownParts(value, num_split);
  TRY_ASSIGN(const int axis, AxisOf(split_dim, value.rank()));
  std::vector<Shape> parts(static_cast<size_t>(num_split), value);
  if (!size_splits.known()) {
    for (Shape& part : parts) part.set_dim(axis, Shape::kUnknownDim);
    return parts;
  }
  TRY_ASSIGN(const std::vector<int64_t> extents, PartExtents(size_splits, value[axis]));
  for (size_t i = 0; i < parts.size(); ++i) parts[i].set_dim(axis, extents[i]);
  return parts;
}

void SplitV::Gradient(Gradients& g) const { g.Set(0, JoinGradients(g, g.input(2))); }

Status SplitV::ComputeCpu(CpuContext& context, const Tensor& value, const Tensor&,
                          const Integers& split_dim, std::span<Tensor> output) const {
  TRY_ASSIGN(const int axis, AxisOf(split_dim, value.shape().rank()));
  CopyApart(context, value, axis, output);
  return OkStatus();
}

Result<std::vector<Shape>> Unpack::InferShape(const Shape& value) const {
  if (!value.has_rank()) return UnknownParts(value, num);
  if (value.rank() == 0) return InvalidArgument("a scalar cannot be unpacked");
  TRY_ASSIGN(const int along, ResolveAxis(axis, value.rank()));
  if (value[along] >= 0 && value[along] != num) {
    return InvalidArgument("the extent of axis {} must be num {}, got {}", along, num,
                           value[along]);
  }
  std::vector<int64_t> dims(value.dims().begin(), value.dims().end());
  dims.erase(dims.begin() + along);
  return std::vector<Shape>(static_cast<size_t>(num), Shape(dims));
}

void Unpack::Gradient(Gradients& g) const {
  std::vector<Expr> parts;
  for (int i = 0; i < g.num_outputs(); ++i) parts.push_back(g.dy(i));
  if (!parts.empty()) g.Set(0, g.scope().Add("Pack", parts, {{"axis", axis}}));
}

Status Unpack::ComputeCpu(CpuContext& context, const Tensor& value,
                          std::span<Tensor> output) const {
  TRY_ASSIGN(const int along, ResolveAxis(axis, value.shape().rank()));
  const StridedPart whole = DensePart(value.shape().dims());
  StridedPart src = whole;
  src.strides.erase(src.strides.begin() + along);
  for (Tensor& part : output) {
    const auto dims = part.shape().dims();
    CopyElements(value, src, part, DensePart(dims), dims, context.parallel());
    src.offset += whole.strides[along];
  }
  return OkStatus();
}

void RegisterSplit(Registrar& registrar) { registrar.AddAll<Split, SplitV, Unpack>(); }

}  // namespace penstock::ops
