#include "penstock/ops/reshape.h"

#include <algorithm>

#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/store_integers.h"

namespace penstock::ops {
namespace {

// Gives output 0 the elements of `tensor` under the shape that the op's rule says.
template <class Op, class... Rest>
Status Alias(const Op& op, CpuContext& context, const Tensor& tensor, const Rest&... rest) {
  if (const Shape* settled = context.settled_shapes()) {
    context.SetOutput(0, tensor.Reshaped(*settled));
    return OkStatus();
  }
  TRY_ASSIGN(const Shape shape, op.InferShape(tensor.shape(), rest...));
  context.SetOutput(0, tensor.Reshaped(shape));
  return OkStatus();
}

// The product of the extents that are neither unknown nor zero; of all known ones when `all`.
int64_t Product(const Shape& shape, bool all) {
  int64_t product = 1;
  for (const int64_t dim : shape.dims()) {
    if (dim > 0 || (all && dim == 0)) product *= dim;
  }
  return product;
}

// The extent of the only unknown axis of `to`, when it holds all elements of `from`.
Result<int64_t> MissingExtent(const Shape& from, const Shape& to) {
  // Where both have a zero, the extents beside it still decide: [0,3] as [0,-1] is [0,3].
  const auto dims = to.dims();
  const bool has_zero = std::find(dims.begin(), dims.end(), 0) != dims.end();
  const int64_t elements = Product(from, /*all=*/!has_zero);
  const int64_t others = Product(to, /*all=*/false);
  if (has_zero && Product(from, /*all=*/true) != 0) {
    return InvalidArgument("a tensor of shape {} cannot be reshaped to {}, which has no elements",
                           from, to);
  }
  if (!has_zero && elements % others != 0) {
    return InvalidArgument(
        "the number of elements must be a multiple of {} to be reshaped to {}, got {} of shape {}",
        others, to, elements, from);
  }
  return elements / others;
}

// Inserts extent 1 at `axis` in [-rank - 1, rank].
Result<Shape> InsertAxis(const Shape& input, int64_t axis) {
  const int rank = input.rank();
  if (axis < -rank - 1 || axis > rank) {
    return InvalidArgument("dim must be in [{}, {}], got {}", -rank - 1, rank, axis);
  }
  std::vector<int64_t> dims(input.dims().begin(), input.dims().end());
  dims.insert(dims.begin() + (axis < 0 ? axis + rank + 1 : axis), 1);
  return Shape::Make(dims);
}

}  // namespace

Result<Shape> Reshape::InferShape(const Shape& tensor, const Integers& shape) const {
  TRY(CheckVector(shape.shape(), "shape"));
  TRY_ASSIGN(Shape to, shape.AsShape(/*allow_unknown=*/true));
  if (!to.has_rank()) return to;
  int missing = -1;
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i] >= 0) continue;
    if (missing < 0) {
      missing = i;
    } else if (shape.known()) {
      return InvalidArgument("only one extent of a shape may be -1, got {} and {}", missing, i);
    } else {
      return to;
    }
  }
  const auto elements = tensor.CheckedNumElements();
  if (!elements) return to;
  if (missing >= 0) {
    TRY_ASSIGN(const int64_t extent, MissingExtent(tensor, to));
    to.set_dim(missing, extent);
    return Shape::Make(to.dims());
  }
  if (to.num_elements() != *elements) {
    return InvalidArgument("a tensor of {} elements is needed for shape {}, got {} in shape {}",
                           to.num_elements(), to, *elements, tensor);
  }
  return to;
}

void Reshape::Gradient(Gradients& g) const { g.Set(0, ReshapeLike(g.dy(), g.input(0))); }

Status Reshape::ComputeCpu(CpuContext& context, const Tensor& tensor, const Tensor& shape) const {
  if (context.settled_shapes()) return Alias(*this, context, tensor, Integers());
  return Alias(*this, context, tensor, Integers({&shape.shape(), shape.dtype(), &shape, nullptr}));
}

Result<Shape> Squeeze::InferShape(const Shape& input) const {
  if (!input.has_rank()) return Shape::Unknown();
  std::vector<bool> leave_out(input.rank(), false);
  for (const int64_t dim : squeeze_dims) {
    TRY_ASSIGN(const int axis, ResolveAxis(dim, input.rank()));
    if (input[axis] != 1 && input[axis] != Shape::kUnknownDim) {
      return InvalidArgument("axis {} must have extent 1 to be squeezed, got shape {}", dim, input);
    }
    leave_out[axis] = true;
  }
  std::vector<int64_t> dims;
  for (int i = 0; i < input.rank(); ++i) {
    if (squeeze_dims.empty()) {
      if (input[i] == Shape::kUnknownDim) return Shape::Unknown();
      if (input[i] == 1) continue;
    }
    if (!leave_out[i]) dims.push_back(input[i]);
  }
  return Shape(dims);
}

void Squeeze::Gradient(Gradients& g) const { g.Set(0, ReshapeLike(g.dy(), g.input(0))); }

Status Squeeze::ComputeCpu(CpuContext& context, const Tensor& input) const {
  return Alias(*this, context, input);
}

Result<Shape> ExpandDims::InferShape(const Shape& input, const Integers& dim) const {
  const auto count = dim.shape().CheckedNumElements();
  if (count && *count != 1) {
    return InvalidArgument("dim must have one element, got shape {}", dim.shape());
  }
  if (!input.has_rank()) return Shape::Unknown();
  if (dim.known()) return InsertAxis(input, dim[0]);
  if (input.rank() == Shape::kMaxRank) return InsertAxis(input, 0);
  return Shape::UnknownOfRank(input.rank() + 1);
}

void ExpandDims::Gradient(Gradients& g) const { g.Set(0, ReshapeLike(g.dy(), g.input(0))); }

Status ExpandDims::ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& dim) const {
  if (context.settled_shapes()) return Alias(*this, context, input, Integers());
  return Alias(*this, context, input, Integers({&dim.shape(), dim.dtype(), &dim, nullptr}));
}

Result<Shape> ShapeOp::InferShape(const Shape& input) const {
  return Shape{input.has_rank() ? input.rank() : Shape::kUnknownDim};
}

Status ShapeOp::ComputeCpu(CpuContext&, const Tensor& input, Tensor& output) const {
  return StoreIntegers(input.shape().dims(), output);
}

Result<std::vector<Shape>> ShapeN::InferShape(std::span<const Known> input) const {
  std::vector<Shape> shapes;
  for (const Known& known : input) {
    shapes.push_back({known.shape->has_rank() ? known.shape->rank() : Shape::kUnknownDim});
  }
  return shapes;
}

Status ShapeN::ComputeCpu(CpuContext&, std::span<Tensor* const> input,
                          std::span<Tensor> output) const {
  for (size_t i = 0; i < input.size(); ++i) {
    TRY(StoreIntegers(input[i]->shape().dims(), output[i]));
  }
  return OkStatus();
}

Result<Shape> Size::InferShape(const Shape&) const { return Shape(); }

Status Size::ComputeCpu(CpuContext&, const Tensor& input, Tensor& output) const {
  const int64_t size[] = {input.num_elements()};
  return StoreIntegers(size, output);
}

Result<Shape> Rank::InferShape(const Shape&) const { return Shape(); }

Status Rank::ComputeCpu(CpuContext&, const Tensor& input, Tensor& output) const {
  const int64_t rank[] = {input.shape().rank()};
  return StoreIntegers(rank, output);
}

void RegisterReshape(Registrar& registrar) {
  registrar.AddAll<Reshape, Squeeze, ExpandDims, ShapeOp, ShapeN, Size, Rank>();
}

}  // namespace penstock::ops
