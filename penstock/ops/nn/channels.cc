#include "penstock/ops/nn/channels.h"

namespace penstock::ops {

Result<Shape> ChannelFormat::Merge(const Shape& x, std::string_view what,
                                   std::initializer_list<const Shape*> vectors) const {
  TRY(CheckRank(x, rank, what));
  Shape merged = x.has_rank() ? x : Shape::UnknownOfRank(rank);
  for (const Shape* vector : vectors) {
    TRY(CheckVector(*vector, "what there is one of for each channel"));
    if (!vector->has_rank() || vector->dim(0) < 0) continue;
    const int64_t channels = merged.dim(channel_axis);
    if (channels >= 0 && channels != vector->dim(0)) {
      return InvalidArgument("expected one entry for each of {} channels of {}, got {}", channels,
                             merged, *vector);
    }
    merged.set_dim(channel_axis, vector->dim(0));
  }
  return merged;
}

kernels::ChannelShape ChannelFormat::Layout(const Shape& x) const {
  kernels::ChannelShape layout;
  for (int i = 0; i < rank; ++i) {
    int64_t& extent = i < channel_axis   ? layout.outer
                      : i > channel_axis ? layout.inner
                                         : layout.channels;
    extent *= x.dim(i);
  }
  return layout;
}

}  // namespace penstock::ops
