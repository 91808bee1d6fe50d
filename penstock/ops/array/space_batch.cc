#include "penstock/ops/array/space_batch.h"

#include <algorithm>
#include <span>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

using Numbers = std::span<const int64_t>;

// The blocks, once all is known: their extents, and what is added to space or cut off before and
// after each axis.
struct Blocks {
  Numbers shape;
  Numbers margins;  // [axes, 2]
};

Status CheckBlocks(const Shape& input, const Integers& block_shape, const Integers& margins,
                   std::string_view what) {
  TRY(CheckVector(block_shape.shape(), "block_shape"));
  TRY(CheckRank(margins.shape(), 2, what));
  const Shape wanted{block_shape.shape().has_rank() ? block_shape.shape()[0] : Shape::kUnknownDim,
                     2};
  if (margins.shape().has_rank() && !wanted.IsCompatibleWith(margins.shape()))
    return InvalidArgument("{} must have shape {}, got {}", what, wanted, margins.shape());
  if (wanted[0] >= 0 && input.has_rank() && input.rank() < wanted[0] + 1) {
    return InvalidArgument("input must have a rank of at least {} for {} blocks, got shape {}",
                           wanted[0] + 1, wanted[0], input);
  }
  return OkStatus();
}

Result<int64_t> NumBlocks(const Blocks& blocks, std::string_view what) {
  int64_t product = 1;
  for (const int64_t block : blocks.shape) {
    if (block < 1) return InvalidArgument("block_shape must be positive, got {}", block);
    const auto next = CheckedMul(product, block);
    if (!next) return InvalidArgument("the product of block_shape is too large");
    product = *next;
  }
  for (const int64_t margin : blocks.margins) {
    if (margin < 0) return InvalidArgument("{} must not be negative, got {}", what, margin);
  }
  return product;
}

Result<Shape> SpaceToBatchShape(const Shape& input, const Blocks& blocks) {
  TRY_ASSIGN(const int64_t product, NumBlocks(blocks, "paddings"));
  std::vector<int64_t> dims(input.dims().begin(), input.dims().end());
  if (dims[0] >= 0) {
    const auto batch = CheckedMul(dims[0], product);
    if (!batch) return InvalidArgument("a batch of {} times {} is too large", dims[0], product);
    dims[0] = *batch;
  }
  for (size_t k = 0; k < blocks.shape.size(); ++k) {
    int64_t& extent = dims[k + 1];
    if (extent < 0) continue;
    const auto before = CheckedAdd(extent, blocks.margins[2 * k]);
    const auto padded = before ? CheckedAdd(*before, blocks.margins[2 * k + 1]) : before;
    if (!padded) return InvalidArgument("paddings of axis {} are too large", k + 1);
    if (*padded % blocks.shape[k] != 0) {
      return InvalidArgument("the padded extent of axis {} must be a multiple of its block {}: {}",
                             k + 1, blocks.shape[k], *padded);
    }
    extent = *padded / blocks.shape[k];
  }
  return Shape::Make(dims);
}

Result<Shape> BatchToSpaceShape(const Shape& input, const Blocks& blocks) {
  TRY_ASSIGN(const int64_t product, NumBlocks(blocks, "crops"));
  std::vector<int64_t> dims(input.dims().begin(), input.dims().end());
  if (dims[0] >= 0) {
    if (dims[0] % product != 0) {
      return InvalidArgument("the batch must be a multiple of the {} elements of a block, got {}",
                             product, dims[0]);
    }
    dims[0] /= product;
  }
  for (size_t k = 0; k < blocks.shape.size(); ++k) {
    int64_t& extent = dims[k + 1];
    if (extent < 0) continue;
    const auto whole = CheckedMul(extent, blocks.shape[k]);
    const auto crops = CheckedAdd(blocks.margins[2 * k], blocks.margins[2 * k + 1]);
    if (!whole || !crops || *crops > *whole) {
      return InvalidArgument("crops of axis {} must be at most its extent {} * {}, got {} + {}",
                             k + 1, extent, blocks.shape[k], blocks.margins[2 * k],
                             blocks.margins[2 * k + 1]);
    }
    extent = *whole - *crops;
  }
  return Shape::Make(dims);
}

using ShapeRule = Result<Shape> (*)(const Shape& input, const Blocks& blocks);

// The shape as far as it can be told.
Result<Shape> Infer(const Shape& input, const Integers& block_shape, const Integers& margins,
                    std::string_view what, ShapeRule rule) {
  TRY(CheckBlocks(input, block_shape, margins, what));
  if (!input.has_rank()) return input;
  if (block_shape.known() && margins.known())
    return rule(input, {block_shape.values(), margins.values()});
  Shape out = input;
  const int64_t axes = block_shape.shape().has_rank() ? block_shape.shape()[0] : Shape::kUnknownDim;
  const int last = axes < 0 ? input.rank() : static_cast<int>(axes) + 1;
  for (int axis = 0; axis < last; ++axis) out.set_dim(axis, Shape::kUnknownDim);
  return out;
}

// Calls copy(dims, batch_part, space_part) for each element of a block: the part of the batched
// tensor that it went to, and where in space that lies. Leaves out what is outside of space.
template <class Copy>
void ForEachBlockElement(const Shape& batched, const Shape& space, const Blocks& blocks,
                         Copy copy) {
  const size_t axes = blocks.shape.size();
  const std::vector<int64_t> batch_strides = DenseStrides(batched.dims());
  const std::vector<int64_t> space_strides = DenseStrides(space.dims());
  std::vector<int64_t> offset(axes, 0);
  const int64_t elements = batched[0] / space[0];
  for (int64_t i = 0; i < elements; ++i) {
    std::vector<int64_t> dims(batched.dims().begin(), batched.dims().end());
    StridedPart from{i * space[0] * batch_strides[0], batch_strides};
    StridedPart to{0, space_strides};
    dims[0] = space[0];
    for (size_t k = 0; k < axes; ++k) {
      // Position j of the batched axis lies at j * block + shift in space.
      const int64_t block = blocks.shape[k];
      const int64_t shift = offset[k] - blocks.margins[2 * k];
      const int64_t first = shift >= 0 ? 0 : (-shift + block - 1) / block;
      const int64_t room = space[static_cast<int>(k) + 1] - shift;
      const int64_t last = std::min(dims[k + 1], room <= 0 ? 0 : (room + block - 1) / block);
      dims[k + 1] = std::max<int64_t>(last - first, 0);
      from.offset += first * batch_strides[k + 1];
      to.offset += (first * block + shift) * space_strides[k + 1];
      to.strides[k + 1] *= block;
    }
    if (std::find(dims.begin(), dims.end(), 0) == dims.end()) copy(dims, from, to);
    for (size_t k = axes; k-- > 0 && ++offset[k] == blocks.shape[k];) offset[k] = 0;
  }
}

Status ToBatch(CpuContext& context, const Tensor& input, const Blocks& blocks, Tensor& output) {
  ZeroElements(output, context.parallel());
  if (output.num_elements() == 0 || input.num_elements() == 0) return OkStatus();
  ForEachBlockElement(output.shape(), input.shape(), blocks,
                      [&](Numbers dims, const StridedPart& batch, const StridedPart& space) {
                        CopyElements(input, space, output, batch, dims, context.parallel());
                      });
  return OkStatus();
}

Status ToSpace(CpuContext& context, const Tensor& input, const Blocks& blocks, Tensor& output) {
  if (output.num_elements() == 0) return OkStatus();
  ForEachBlockElement(input.shape(), output.shape(), blocks,
                      [&](Numbers dims, const StridedPart& batch, const StridedPart& space) {
                        CopyElements(input, batch, output, space, dims, context.parallel());
                      });
  return OkStatus();
}

// Square blocks as the general ops take them.
class SquareBlocks {
 public:
  explicit SquareBlocks(int64_t size)
      : tensor_(Tensor::FromValues<int64_t>({2}, {size, size})),
        integers_(Known{&tensor_.shape(), tensor_.dtype(), &tensor_}) {}
  const Integers& integers() const { return integers_; }

 private:
  const Tensor tensor_;
  const Integers integers_;
};

}  // namespace

Result<Shape> SpaceToBatchND::InferShape(const Shape& input, const Integers& block_shape,
                                         const Integers& paddings) const {
  return Infer(input, block_shape, paddings, "paddings", SpaceToBatchShape);
}
void SpaceToBatchND::Gradient(Gradients& g) const {
  g.Set(0, Op("BatchToSpaceND", g.dy(), g.input(1), g.input(2)));
}
Status SpaceToBatchND::ComputeCpu(CpuContext& context, const Tensor& input,
                                  const Integers& block_shape, const Integers& paddings,
                                  Tensor& output) const {
  return ToBatch(context, input, {block_shape.values(), paddings.values()}, output);
}

Result<Shape> BatchToSpaceND::InferShape(const Shape& input, const Integers& block_shape,
                                         const Integers& crops) const {
  return Infer(input, block_shape, crops, "crops", BatchToSpaceShape);
}
void BatchToSpaceND::Gradient(Gradients& g) const {
  g.Set(0, Op("SpaceToBatchND", g.dy(), g.input(1), g.input(2)));
}
Status BatchToSpaceND::ComputeCpu(CpuContext& context, const Tensor& input,
                                  const Integers& block_shape, const Integers& crops,
                                  Tensor& output) const {
  return ToSpace(context, input, {block_shape.values(), crops.values()}, output);
}

Result<Shape> SpaceToBatch::InferShape(const Shape& input, const Integers& paddings) const {
  TRY(CheckRank(input, 4, "input"));
  return Infer(input, SquareBlocks(block_size).integers(), paddings, "paddings", SpaceToBatchShape);
}
void SpaceToBatch::Gradient(Gradients& g) const {
  g.Set(0, Op("BatchToSpace", g.dy(), g.input(1), {{"block_size", block_size}}));
}
Status SpaceToBatch::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& paddings,
                                Tensor& output) const {
  const int64_t blocks[] = {block_size, block_size};
  return ToBatch(context, input, {blocks, paddings.values()}, output);
}

Result<Shape> BatchToSpace::InferShape(const Shape& input, const Integers& crops) const {
  TRY(CheckRank(input, 4, "input"));
  return Infer(input, SquareBlocks(block_size).integers(), crops, "crops", BatchToSpaceShape);
}
void BatchToSpace::Gradient(Gradients& g) const {
  g.Set(0, Op("SpaceToBatch", g.dy(), g.input(1), {{"block_size", block_size}}));
}
Status BatchToSpace::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& crops,
                                Tensor& output) const {
  const int64_t blocks[] = {block_size, block_size};
  return ToSpace(context, input, {blocks, crops.values()}, output);
}

void RegisterSpaceBatch(Registrar& registrar) {
  registrar.AddAll<SpaceToBatchND, BatchToSpaceND, SpaceToBatch, BatchToSpace>();
}

}  // namespace penstock::ops
