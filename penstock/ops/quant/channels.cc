#include "penstock/ops/quant/channels.h"

#include "penstock/ops/index_rows.h"

namespace penstock::ops {

Channels ChannelsOf(const Shape& shape, int64_t axis) {
  if (axis < 0) return {.outer = 1, .channels = 1, .inner = shape.num_elements()};
  const int at = static_cast<int>(axis);
  return {.outer = ProductOf(shape, 0, at),
          .channels = shape[at],
          .inner = ProductOf(shape, at + 1, shape.rank())};
}

Status CheckChannels(const Shape& input, int64_t axis, const Shape& range, std::string_view what) {
  if (axis < -1) return InvalidArgument("axis must be at least -1, got {}", axis);
  if (axis == -1) return CheckScalar(range, what);
  if (input.has_rank() && axis >= input.rank())
    return InvalidArgument("axis must be below the rank {} of the input, got {}", input.rank(),
                           axis);
  TRY(CheckVector(range, what));
  if (!input.has_rank() || !range.has_rank()) return OkStatus();
  const int64_t channels = input[static_cast<int>(axis)];
  if (channels >= 0 && range[0] >= 0 && channels != range[0])
    return InvalidArgument("{} must have a number for each of {} channels, got {}", what, channels,
                           range[0]);
  return OkStatus();
}

}  // namespace penstock::ops
