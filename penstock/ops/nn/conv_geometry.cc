#include "penstock/ops/nn/conv_geometry.h"

#include <algorithm>

#include "penstock/graph/infer.h"

namespace penstock::ops {
namespace {

constexpr int64_t kUnknown = Shape::kUnknownDim;
// No extent of a real tensor comes near; sums and products of a few numbers below it do not
// overflow.
constexpr int64_t kLargest = int64_t{1} << 40;

Status CheckList(std::span<const int64_t> list, const ConvRules& rules, std::string_view what) {
  if (static_cast<int>(list.size()) != rules.rank()) {
    return InvalidArgument("{} must have {} numbers, one for each axis, got {}", what, rules.rank(),
                           list.size());
  }
  for (const int64_t value : list) {
    if (value < 1 || value > kLargest) {
      return InvalidArgument("{} must be positive and at most {}, got {}", what, kLargest, value);
    }
  }
  const int64_t channels = list[static_cast<size_t>(rules.channel_axis())];
  if (list[0] != 1 || channels != 1) {
    return InvalidArgument("{} of the batch and of the channels must be 1, got {} and {}", what,
                           list[0], channels);
  }
  return OkStatus();
}

Status CheckPaddings(const ConvRules& rules) {
  const std::span<const int64_t> paddings = rules.explicit_paddings;
  if (rules.padding != "EXPLICIT") {
    if (paddings.empty()) return OkStatus();
    return InvalidArgument(
        "explicit_paddings must be empty where the padding is {}, got {} numbers", rules.padding,
        paddings.size());
  }
  if (static_cast<int>(paddings.size()) != 2 * rules.rank()) {
    return InvalidArgument("explicit_paddings must have {} numbers, two for each axis, got {}",
                           2 * rules.rank(), paddings.size());
  }
  for (int axis = 0; axis < rules.rank(); ++axis) {
    const bool is_spatial = axis != 0 && axis != rules.channel_axis();
    for (const int64_t value : paddings.subspan(static_cast<size_t>(2 * axis), 2)) {
      if (value < 0 || value > kLargest || (!is_spatial && value != 0)) {
        return InvalidArgument(
            "explicit_paddings must not be negative, nor pad the batch or the channels, got {} for "
            "axis {}",
            value, axis);
      }
    }
  }
  return OkStatus();
}

// One spatial axis: how far the output reaches and where it begins.
Status ResolveAxis(const ConvRules& rules, int i, int64_t in, int64_t filter, int slot,
                   kernels::ConvShape& shape) {
  const auto axis = static_cast<size_t>(rules.spatial_axis(i));
  const int64_t stride = rules.strides[axis], dilation = rules.dilations[axis];
  shape.in[slot] = in;
  shape.filter[slot] = filter;
  shape.stride[slot] = stride;
  shape.dilation[slot] = dilation;
  shape.out[slot] = shape.pad[slot] = kUnknown;
  if (in > kLargest || filter > kLargest) {
    return InvalidArgument("extents must be at most {}, got {} and a filter of {}", kLargest, in,
                           filter);
  }
  const bool same = rules.padding == "SAME";
  if (same && in != kUnknown) shape.out[slot] = in == 0 ? 0 : (in - 1) / stride + 1;
  if (in == kUnknown || filter == kUnknown) return OkStatus();
  const auto spread = CheckedMul(std::max<int64_t>(filter - 1, 0), dilation);
  if (!spread || *spread >= kLargest) {
    return InvalidArgument("a filter of {} with a dilation of {} is too wide", filter, dilation);
  }
  const int64_t reach = *spread + 1;
  if (same) {
    const int64_t needed = (shape.out[slot] - 1) * stride + reach - in;
    shape.pad[slot] = std::max<int64_t>(needed, 0) / 2;
    return OkStatus();
  }
  int64_t before = 0, after = 0;
  if (rules.padding == "EXPLICIT") {
    before = rules.explicit_paddings[2 * axis];
    after = rules.explicit_paddings[2 * axis + 1];
  }
  const int64_t padded = in + before + after;
  if (padded < reach) {
    return InvalidArgument(
        "the filter must not be wider than the padded input: negative dimension size, subtracting "
        "{} from {}",
        reach, padded);
  }
  shape.pad[slot] = before;
  shape.out[slot] = (padded - reach) / stride + 1;
  return OkStatus();
}

Status ResolveChannels(const ConvRules& rules, int64_t in, int64_t filter_in, int64_t filter_out,
                       kernels::ConvShape& shape) {
  shape.in_channels = in;
  shape.out_channels = filter_out;
  shape.groups = 1;
  if (rules.depthwise) {
    if (in == kUnknown) shape.in_channels = in = filter_in;
    if (in != kUnknown && filter_in != kUnknown && in != filter_in) {
      return InvalidArgument("the filter must be for as many channels as the input has, {}, got {}",
                             in, filter_in);
    }
    shape.groups = std::max<int64_t>(in, 1);
    shape.out_channels = kUnknown;
    if (in == kUnknown || filter_out == kUnknown) return OkStatus();
    const auto out = CheckedMul(in, filter_out);
    if (!out) return InvalidArgument("{} times {} channels are too many", in, filter_out);
    shape.out_channels = *out;
    return OkStatus();
  }
  if (in == kUnknown || filter_in == kUnknown || in == filter_in) return OkStatus();
  if (filter_in == 0 || in % filter_in != 0) {
    return InvalidArgument(
        "the depth of the input must be a multiple of that of the filter: {} vs {}", in, filter_in);
  }
  shape.groups = std::max<int64_t>(in / filter_in, 1);
  if (filter_out != kUnknown && filter_out % shape.groups != 0) {
    return InvalidArgument("the output channels must be a multiple of the groups, {}, got {}",
                           shape.groups, filter_out);
  }
  return OkStatus();
}

Shape OfRank(const Shape& shape, int rank) {
  return shape.has_rank() ? shape : Shape::UnknownOfRank(rank);
}

}  // namespace

Status ConvRules::Check() const {
  TRY(CheckList(strides, *this, "strides"));
  TRY(CheckList(dilations, *this, "dilations"));
  return CheckPaddings(*this);
}

Result<ConvGeometry> ResolveConv(const ConvRules& rules, const Shape& input, const Shape& filter) {
  TRY(CheckRank(input, rules.rank(), "input"));
  TRY(CheckRank(filter, rules.rank(), "filter"));
  const Shape in = OfRank(input, rules.rank()), taps = OfRank(filter, rules.rank());
  ConvGeometry geometry;
  kernels::ConvShape& shape = geometry.shape;
  shape.batch = in.dim(0);
  TRY(ResolveChannels(rules, in.dim(rules.channel_axis()), taps.dim(rules.spatial),
                      taps.dim(rules.spatial + 1), shape));
  for (int i = 0; i < rules.spatial; ++i) {
    TRY(ResolveAxis(rules, i, in.dim(rules.spatial_axis(i)), taps.dim(i),
                    kernels::ConvShape::kAxes - rules.spatial + i, shape));
  }
  geometry.output = Shape::UnknownOfRank(rules.rank());
  geometry.output.set_dim(0, shape.batch);
  geometry.output.set_dim(rules.channel_axis(), shape.out_channels);
  for (int i = 0; i < rules.spatial; ++i) {
    geometry.output.set_dim(rules.spatial_axis(i),
                            shape.out[kernels::ConvShape::kAxes - rules.spatial + i]);
  }
  TRY_ASSIGN(geometry.output, Shape::Make(geometry.output.dims()));
  return geometry;
}

Result<ConvGeometry> ResolveConv(const ConvRules& rules, const Shape& input, const Shape& filter,
                                 const Shape& output) {
  TRY(CheckRank(output, rules.rank(), "out_backprop"));
  TRY_ASSIGN(ConvGeometry geometry, ResolveConv(rules, input, filter));
  if (!geometry.output.IsCompatibleWith(output)) {
    return InvalidArgument(
        "out_backprop must have the shape of the convolution of {} with {}, {}, got {}", input,
        filter, geometry.output, output);
  }
  return geometry;
}

}  // namespace penstock::ops
