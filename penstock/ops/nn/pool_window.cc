#include "penstock/ops/nn/pool_window.h"

#include <algorithm>
#include <limits>

namespace penstock::ops {
namespace {

constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max();

}  // namespace

Status PoolWindow::Check(bool may_pool_channels) const {
  const size_t rank = static_cast<size_t>(spatial) + 2;
  if (data_format == "NCHW_VECT_C")
    return Unimplemented("data_format {} has no CPU kernel", data_format);
  if (ksize.size() != rank || strides.size() != rank) {
    return InvalidArgument("ksize and strides must have {} entries, got {} and {}", rank,
                           ksize.size(), strides.size());
  }
  for (size_t i = 0; i < rank; ++i) {
    if (ksize[i] < 1 || ksize[i] > kMaxExtent)
      return InvalidArgument(
          "Sliding window ksize must be positive and fit 32 bits, got {} for axis {}", ksize[i], i);
    if (strides[i] < 1 || strides[i] > kMaxExtent)
      return InvalidArgument(
          "Sliding window strides must be positive and fit 32 bits, got {} for axis {}", strides[i],
          i);
  }
  if (ksize[0] != 1 || strides[0] != 1)
    return Unimplemented(
        "Pooling is not yet supported on the batch dimension: expected 1, got ksize {} and stride "
        "{}",
        ksize[0], strides[0]);
  const auto channel = static_cast<size_t>(channel_axis());
  if (ksize[channel] != 1 || strides[channel] != 1) {
    if (!may_pool_channels)
      return Unimplemented(
          "Pooling is not yet supported on the depth dimension: expected 1, got ksize {} and "
          "stride {}",
          ksize[channel], strides[channel]);
    for (int i = 0; i < spatial; ++i) {
      const auto axis = static_cast<size_t>(spatial_axis(i));
      if (ksize[axis] != 1 || strides[axis] != 1)
        return Unimplemented(
            "MaxPooling supports exactly one of pooling across depth or pooling across "
            "width/height");
    }
    if (channels_first()) return Unimplemented("Depthwise max pooling wants the channels last");
    if (ksize[channel] != strides[channel])
      return Unimplemented(
          "Depthwise max pooling requires the depth window to equal the depth stride, got {} and "
          "{}",
          ksize[channel], strides[channel]);
  }
  if (padding != "EXPLICIT") {
    if (!explicit_paddings.empty())
      return InvalidArgument("explicit_paddings must be empty when padding is {}, got {} entries",
                             padding, explicit_paddings.size());
    return OkStatus();
  }
  if (explicit_paddings.size() != 2 * rank)
    return InvalidArgument("explicit_paddings must have {} entries, got {}", 2 * rank,
                           explicit_paddings.size());
  for (size_t i = 0; i < 2 * rank; ++i) {
    const int64_t amount = explicit_paddings[i];
    if (amount < 0)
      return InvalidArgument("explicit_paddings must not be negative, got {}", amount);
    if (i / 2 == 0 || i / 2 == channel) {
      if (amount != 0)
        return Unimplemented(
            "Nonzero explicit padding in the batch or depth dimensions is not supported, got {}",
            amount);
    } else if (amount >= ksize[i / 2]) {
      return InvalidArgument("Padding {} needs to be smaller than the window size {}", amount,
                             ksize[i / 2]);
    }
  }
  return OkStatus();
}

Result<kernels::PoolAxis> PoolWindow::LayoutAxis(int64_t in, int axis) const {
  const auto at = static_cast<size_t>(axis);
  const int64_t window = ksize[at], stride = strides[at];
  kernels::PoolAxis layout{in, 0, window, stride, 0};
  if (padding == "SAME") {
    layout.out = in / stride + (in % stride != 0 ? 1 : 0);
    if (layout.out > 0)
      layout.before = std::max<int64_t>((layout.out - 1) * stride + window - in, 0) / 2;
    return layout;
  }
  int64_t padded = in;
  if (padding == "EXPLICIT") {
    layout.before = explicit_paddings[2 * at];
    const auto sum = CheckedAdd(in, layout.before + explicit_paddings[2 * at + 1]);
    if (!sum) return InvalidArgument("a padded extent of {} and more does not fit 64 bits", in);
    padded = *sum;
  }
  if (padded < window) {
    return InvalidArgument(
        "Negative dimension size: an extent of {} has no room for a window of {}", padded, window);
  }
  layout.out = (padded - window) / stride + 1;
  return layout;
}

Result<Shape> PoolWindow::OutputShape(const Shape& input) const {
  TRY(CheckRank(input, spatial + 2, "input"));
  if (!input.has_rank()) return Shape::UnknownOfRank(spatial + 2);
  Shape out = input;
  for (int i = 0; i < spatial; ++i) {
    const int axis = spatial_axis(i);
    if (input.dim(axis) < 0) continue;
    TRY_ASSIGN(const kernels::PoolAxis layout, LayoutAxis(input.dim(axis), axis));
    out.set_dim(axis, layout.out);
  }
  const int64_t group = ksize[static_cast<size_t>(channel_axis())];
  const int64_t channels = input.dim(channel_axis());
  if (group > 1 && channels >= 0) {
    if (channels % group != 0)
      return Unimplemented(
          "Depthwise max pooling requires the depth window to evenly divide the input depth, got "
          "{} and {}",
          group, channels);
    out.set_dim(channel_axis(), channels / group);
  }
  return Shape::Make(out.dims());
}

Result<kernels::PoolShape> PoolWindow::Layout(const Shape& input) const {
  kernels::PoolShape shape;
  shape.batch = input.dim(0);
  shape.channels = input.dim(channel_axis());
  if (channels_first()) {
    shape.batch *= shape.channels;
    shape.channels = 1;
  }
  for (int i = 0; i < spatial; ++i) {
    const int axis = spatial_axis(i);
    TRY_ASSIGN(shape.axes[static_cast<size_t>(3 - spatial + i)], LayoutAxis(input.dim(axis), axis));
  }
  if (input.num_elements() > 0 && shape.places_in() > kMaxExtent)
    return Unimplemented("pooling takes images of less than 2^31 places, got {}", input);
  return shape;
}

Status CheckPooled(const Shape& pooled, const Shape& output, std::string_view what) {
  if (pooled.IsCompatibleWith(output)) return OkStatus();
  return InvalidArgument("Expected {} of shape {}, got {}", what, pooled, output);
}

}  // namespace penstock::ops
