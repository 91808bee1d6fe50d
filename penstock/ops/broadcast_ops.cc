#include "penstock/ops/broadcast_ops.h"

#include <algorithm>
#include <vector>

#include "penstock/kernels/broadcast.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/store_integers.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// Reads two vectors of extents as shapes and broadcasts them.
Result<Shape> BroadcastVectors(const Integers& a, const Integers& b) {
  TRY_ASSIGN(const Shape first, a.AsShape());
  TRY_ASSIGN(const Shape second, b.AsShape());
  return BroadcastShapes(first, second);
}

// For each operand the axes of the result along which it was broadcast. An axis of extent 1 in both
// counts for both, unless the shapes are equal: then nothing is to be summed.
Result<std::array<std::vector<int64_t>, 2>> ReductionAxes(const Integers& s0, const Integers& s1) {
  TRY_ASSIGN(const Shape shape, BroadcastVectors(s0, s1));
  std::array<std::vector<int64_t>, 2> axes;
  if (s0.values() == s1.values()) return axes;
  const Integers* operands[] = {&s0, &s1};
  for (int k = 0; k < 2; ++k) {
    const int missing = shape.rank() - static_cast<int>(operands[k]->size());
    for (int i = 0; i < shape.rank(); ++i) {
      if (i < missing || (*operands[k])[i - missing] == 1) axes[k].push_back(i);
    }
  }
  return axes;
}

}  // namespace

Result<Shape> BroadcastTo::InferShape(const Shape& input, const Integers& shape) const {
  TRY(CheckVector(shape.shape(), "shape"));
  TRY_ASSIGN(const Shape to, shape.AsShape());
  if (!input.has_rank() || !to.has_rank()) return to;
  if (input.rank() > to.rank()) {
    return InvalidArgument("the rank of the shape must be at least the input's {}, got {}",
                           input.rank(), to);
  }
  for (int i = 0; i < input.rank(); ++i) {
    const int64_t from = input[i], target = to[to.rank() - input.rank() + i];
    if (from >= 0 && target >= 0 && from != 1 && from != target) {
      return InvalidArgument("shape {} cannot be broadcast to {}", input, to);
    }
  }
  return to;
}

void BroadcastTo::Gradient(Gradients& g) const {
  const DType index = g.input(1).dtype();
  const Expr axes = Op("BroadcastGradientArgs", ShapeOf(g.input(0), index), g.input(1));
  g.Set(0, ReshapeLike(Op("Sum", g.dy(), axes), g.input(0)));
}

Status BroadcastTo::ComputeCpu(CpuContext& context, const Tensor& input, const Tensor&,
                               Tensor& output) const {
  const auto dims = output.shape().dims();
  StridedPart src{0, std::vector<int64_t>(dims.size())};
  kernels::BroadcastStrides(input.shape().dims(), dims, src.strides.data());
  CopyElements(input, src, output, DensePart(dims), dims, context.parallel());
  return OkStatus();
}

Result<Shape> BroadcastArgs::InferShape(const Integers& s0, const Integers& s1) const {
  TRY(CheckVector(s0.shape(), "s0"));
  TRY(CheckVector(s1.shape(), "s1"));
  if (s0.known() && s1.known()) TRY(BroadcastVectors(s0, s1));
  if (!s0.shape().has_rank() || !s1.shape().has_rank()) return Shape{Shape::kUnknownDim};
  const int64_t n0 = s0.shape()[0], n1 = s1.shape()[0];
  return Shape{n0 < 0 || n1 < 0 ? Shape::kUnknownDim : std::max(n0, n1)};
}

Status BroadcastArgs::ComputeCpu(CpuContext&, const Integers& s0, const Integers& s1,
                                 Tensor& r0) const {
  TRY_ASSIGN(const Shape shape, BroadcastVectors(s0, s1));
  return StoreIntegers(shape.dims(), r0);
}

Result<std::array<Shape, 2>> BroadcastGradientArgs::InferShape(const Integers& s0,
                                                               const Integers& s1) const {
  TRY(CheckVector(s0.shape(), "s0"));
  TRY(CheckVector(s1.shape(), "s1"));
  if (!s0.known() || !s1.known()) {
    return std::array<Shape, 2>{Shape{Shape::kUnknownDim}, Shape{Shape::kUnknownDim}};
  }
  TRY_ASSIGN(const auto axes, ReductionAxes(s0, s1));
  return std::array<Shape, 2>{Shape{static_cast<int64_t>(axes[0].size())},
                              Shape{static_cast<int64_t>(axes[1].size())}};
}

Status BroadcastGradientArgs::ComputeCpu(CpuContext&, const Integers& s0, const Integers& s1,
                                         Tensor& r0, Tensor& r1) const {
  TRY_ASSIGN(const auto axes, ReductionAxes(s0, s1));
  TRY(StoreIntegers(axes[0], r0));
  return StoreIntegers(axes[1], r1);
}

Result<Shape> Tile::InferShape(const Shape& input, const Integers& multiples) const {
  TRY(CheckVector(multiples.shape(), "multiples"));
  const Shape& count = multiples.shape();
  if (input.has_rank() && count.has_rank() && count[0] >= 0 && count[0] != input.rank()) {
    return InvalidArgument("multiples must have one element for each of {} axes, got {}",
                           input.rank(), count[0]);
  }
  if (!multiples.known()) {
    return input.has_rank() ? Shape::UnknownOfRank(input.rank()) : Shape::Unknown();
  }
  for (const int64_t multiple : multiples.values()) {
    if (multiple < 0) return InvalidArgument("multiples must not be negative, got {}", multiple);
  }
  if (!input.has_rank()) {
    return Shape::Make(std::vector<int64_t>(multiples.size(), Shape::kUnknownDim));
  }
  std::vector<int64_t> dims;
  for (int i = 0; i < input.rank(); ++i) {
    if (input[i] < 0) {
      dims.push_back(multiples[i] == 0 ? 0 : Shape::kUnknownDim);
      continue;
    }
    const auto dim = CheckedMul(input[i], multiples[i]);
    if (!dim) {
      return InvalidArgument("axis {} must fit in 64 bits, got {} repeated {} times", i, input[i],
                             multiples[i]);
    }
    dims.push_back(*dim);
  }
  return Shape::Make(dims);
}

// The copies of an axis become an axis of their own, [m0, d0, m1, d1, ...], which is summed.
void Tile::Gradient(Gradients& g) const {
  const Scope& scope = g.scope();
  const DType index = g.input(1).dtype();
  const Expr pairs = scope.Add("Pack", {g.input(1), ShapeOf(g.input(0), index)}, {{"axis", 1}});
  const Expr split = Op("Reshape", pairs, IntVector(scope, {-1}));
  const Expr axes =
      scope.Add("Range", {IntScalar(scope, 0), Op("Size", split), IntScalar(scope, 2)});
  g.Set(0, ReshapeLike(Op("Sum", Op("Reshape", g.dy(), split), axes), g.input(0)));
}

Status Tile::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& multiples,
                        Tensor& output) const {
  const auto in = DenseStrides(input.shape().dims());
  const auto out = DenseStrides(output.shape().dims());
  StridedPart src, dst;
  std::vector<int64_t> dims;
  for (int i = 0; i < input.shape().rank(); ++i) {
    const int64_t extent = input.shape()[i];
    dims.insert(dims.end(), {multiples[i], extent});
    src.strides.insert(src.strides.end(), {0, in[i]});
    dst.strides.insert(dst.strides.end(), {multiples[i] > 1 ? out[i] * extent : 0, out[i]});
  }
  CopyElements(input, src, output, dst, dims, context.parallel());
  return OkStatus();
}

void RegisterBroadcastOps(Registrar& registrar) {
  registrar.AddAll<BroadcastTo, BroadcastArgs, BroadcastGradientArgs, Tile>();
}

}  // namespace penstock::ops
