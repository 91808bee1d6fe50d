#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/kernels/pool.h"
#include "penstock/ops/op_kernel.h"

// The windows of a pooling as its attributes state them, and what they make of an array.

namespace penstock::ops {

// The attributes of a pooling, borrowed from its op. `ksize` and `strides` have an entry for each
// axis of the array, batch and channels included, in the order of `data_format`.
struct PoolWindow {
  int spatial;  // axes between batch and channels: 2 or 3
  std::span<const int64_t> ksize;
  std::span<const int64_t> strides;
  std::string_view padding;
  std::span<const int64_t> explicit_paddings = {};
  std::string_view data_format = "NHWC";

  bool channels_first() const { return data_format.substr(0, 2) == "NC"; }
  int channel_axis() const { return channels_first() ? 1 : spatial + 1; }
  int spatial_axis(int i) const { return i + (channels_first() ? 2 : 1); }
  // True when it pools neighbouring channels and no places.
  bool over_channels() const { return ksize[static_cast<size_t>(channel_axis())] > 1; }

  // What holds whatever the array is. Over channels: when `may_pool_channels`.
  Status Check(bool may_pool_channels = false) const;
  // The shape of the pooling of `input`, which may be partial. REQUIRES: Check passed.
  Result<Shape> OutputShape(const Shape& input) const;
  // The loops for an array of that full shape. With the channels first each of them is an image of
  // its own. REQUIRES: OutputShape accepts it.
  Result<kernels::PoolShape> Layout(const Shape& input) const;

 private:
  Result<kernels::PoolAxis> LayoutAxis(int64_t in, int axis) const;
};

// Refuses derivatives and outputs that are not shaped like the pooling of `input`.
Status CheckPooled(const Shape& pooled, const Shape& output, std::string_view what);

}  // namespace penstock::ops
