#include "penstock/ops/image/space_to_depth.h"

#include <array>

#include "penstock/core/checked.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// Which axes are height, width and channels.
struct Layout {
  int height;
  int width;
  int channels;
};
Result<Layout> LayoutOf(const std::string& data_format) {
  if (data_format == "NHWC") return Layout{1, 2, 3};
  if (data_format == "NCHW") return Layout{2, 3, 1};
  return Unimplemented("data_format must be NHWC, got {}", data_format);
}
// What stock TensorFlow's CPU can do.
Result<Layout> LayoutOnCpu(const std::string& data_format) {
  if (data_format != "NHWC")
    return InvalidArgument("data_format must be NHWC on a CPU, got {}", data_format);
  return LayoutOf(data_format);
}

int64_t Divided(int64_t extent, int64_t by) { return extent < 0 ? extent : extent / by; }
Result<int64_t> Multiplied(int64_t extent, int64_t by) {
  if (extent < 0) return extent;
  const auto product = CheckedMul(extent, by);
  if (!product) return InvalidArgument("an extent of {} times {} is too large", extent, by);
  return *product;
}

// The two shapes: `deep` has the channels, `wide` the pixels. Blocks of both, in one order of
// axes: batch, row, row in its block, column, column in its block, channel.
struct Blocks {
  std::array<int64_t, 6> dims;
  StridedPart deep;
  StridedPart wide;

  Blocks(const Shape& deep_shape, const Shape& wide_shape, int64_t size, const Layout& at)
      : dims{deep_shape[0], deep_shape[at.height],  size, deep_shape[at.width],
             size,          wide_shape[at.channels]} {
    const std::vector<int64_t> d = DenseStrides(deep_shape.dims());
    const std::vector<int64_t> w = DenseStrides(wide_shape.dims());
    const int64_t channels = wide_shape[at.channels];
    deep.strides = {d[0],
                    d[at.height],
                    d[at.channels] * channels * size,
                    d[at.width],
                    d[at.channels] * channels,
                    d[at.channels]};
    wide.strides = {w[0],        w[at.height] * size, w[at.height], w[at.width] * size,
                    w[at.width], w[at.channels]};
  }
};

}  // namespace

Result<Shape> SpaceToDepth::InferShape(const Shape& input) const {
  TRY_ASSIGN(const Layout at, LayoutOf(data_format));
  TRY(CheckRank(input, 4, "input"));
  if (!input.has_rank()) return Shape::UnknownOfRank(4);
  for (const int axis : {at.height, at.width}) {
    if (input[axis] > 0 && input[axis] % block_size != 0) {
      return InvalidArgument("height and width must be multiples of block_size {}, got shape {}",
                             block_size, input);
    }
  }
  TRY_ASSIGN(int64_t channels, Multiplied(input[at.channels], block_size));
  TRY_ASSIGN(channels, Multiplied(channels, block_size));
  Shape output = input;
  output.set_dim(at.height, Divided(input[at.height], block_size));
  output.set_dim(at.width, Divided(input[at.width], block_size));
  output.set_dim(at.channels, channels);
  return Shape::Make(output.dims());
}

void SpaceToDepth::Gradient(Gradients& g) const {
  g.Set(0, Op("DepthToSpace", g.dy(), {{"block_size", block_size}, {"data_format", data_format}}));
}

Status SpaceToDepth::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const {
  TRY_ASSIGN(const Layout at, LayoutOnCpu(data_format));
  const Blocks blocks(output.shape(), input.shape(), block_size, at);
  CopyElements(input, blocks.wide, output, blocks.deep, blocks.dims, context.parallel());
  return OkStatus();
}

Result<Shape> DepthToSpace::InferShape(const Shape& input) const {
  TRY_ASSIGN(const Layout at, LayoutOf(data_format));
  TRY(CheckRank(input, 4, "input"));
  if (!input.has_rank()) return Shape::UnknownOfRank(4);
  const auto square = CheckedMul(block_size, block_size);
  if (!square || (input[at.channels] >= 0 && input[at.channels] % *square != 0)) {
    return InvalidArgument("the channels must be a multiple of the square of block_size {}, got {}",
                           block_size, input[at.channels]);
  }
  Shape output = input;
  for (const int axis : {at.height, at.width}) {
    TRY_ASSIGN(const int64_t extent, Multiplied(input[axis], block_size));
    output.set_dim(axis, extent);
  }
  output.set_dim(at.channels, Divided(input[at.channels], *square));
  return Shape::Make(output.dims());
}

void DepthToSpace::Gradient(Gradients& g) const {
  g.Set(0, Op("SpaceToDepth", g.dy(), {{"block_size", block_size}, {"data_format", data_format}}));
}

Status DepthToSpace::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const {
  TRY_ASSIGN(const Layout at, LayoutOnCpu(data_format));
  const Blocks blocks(input.shape(), output.shape(), block_size, at);
  CopyElements(input, blocks.deep, output, blocks.wide, blocks.dims, context.parallel());
  return OkStatus();
}

void RegisterSpaceToDepth(Registrar& registrar) { registrar.AddAll<SpaceToDepth, DepthToSpace>(); }

}  // namespace penstock::ops
