#pragma once

#include <span>
#include <string_view>

#include "penstock/kernels/batch_norm.h"
#include "penstock/ops/float_copy.h"

// Arrays with a batch, two or three axes and channels, in the order that a data_format names, and
// vectors with an entry for each channel.

namespace penstock::ops {

struct ChannelFormat {
  int rank;
  int channel_axis;
  // "NHWC", "NCHW", "NDHWC" or "NCDHW".
  explicit ChannelFormat(std::string_view data_format)
      : rank(static_cast<int>(data_format.size())),
        channel_axis(data_format[1] == 'C' ? 1 : rank - 1) {}

  // The shape of x with what `vectors` tell of its channels; all must agree.
  Result<Shape> Merge(const Shape& x, std::string_view what,
                      std::initializer_list<const Shape*> vectors) const;
  // REQUIRES: of that rank, fully known.
  kernels::ChannelShape Layout(const Shape& x) const;
};

}  // namespace penstock::ops
