#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "penstock/core/shape.h"
#include "penstock/kernels/conv.h"

// What the attributes and shapes of the convolution ops mean, in one place for all of them.

namespace penstock::ops {

// The attributes. Lists are in the order of the data format, one number an axis.
struct ConvRules {
  int spatial = 2;  // axes
  bool depthwise = false;
  std::span<const int64_t> strides;
  std::span<const int64_t> dilations;
  std::string_view padding;
  std::span<const int64_t> explicit_paddings;  // before and after, for each axis
  std::string_view data_format;

  bool channels_first() const { return data_format.substr(0, 2) == "NC"; }
  int rank() const { return spatial + 2; }
  int channel_axis() const { return channels_first() ? 1 : rank() - 1; }
  int spatial_axis(int i) const { return i + (channels_first() ? 2 : 1); }

  // What no shape is needed for: as many numbers as axes, of the sign and size that make sense.
  Status Check() const;
};

// A convolution of which some extents may be unknown (Shape::kUnknownDim).
struct ConvGeometry {
  kernels::ConvShape shape;
  Shape output;  // in the data format
};

// Finds what the rules make of an input and a filter, and refuses what does not go together.
Result<ConvGeometry> ResolveConv(const ConvRules& rules, const Shape& input, const Shape& filter);
// The same, and holds the shape of the output, or of its gradient, against it.
Result<ConvGeometry> ResolveConv(const ConvRules& rules, const Shape& input, const Shape& filter,
                                 const Shape& output);

}  // namespace penstock::ops
