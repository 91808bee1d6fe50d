#pragma once

#include "penstock/ops/op_kernel.h"

// Ranges of a whole tensor, or one for each channel along an axis.

namespace penstock::ops {

// A tensor seen as [outer, channels, inner]; one channel when no axis is given.
struct Channels {
  int64_t outer = 1;
  int64_t channels = 1;
  int64_t inner = 1;
};
// REQUIRES: CheckChannels.
Channels ChannelsOf(const Shape& shape, int64_t axis);

// `axis` is -1 or an axis of `input`, and a range has a number for all or for each channel.
Status CheckChannels(const Shape& input, int64_t axis, const Shape& range, std::string_view what);

// Calls body(channel, begin, end) for the runs of elements of one channel, in parallel.
template <class F>
void ForEachRun(const Channels& c, double cost, const ParallelFor& each, F body) {
  if (c.channels == 1) {
    each(
        c.outer * c.inner, cost, [&](int64_t begin, int64_t end) { body(int64_t{0}, begin, end); },
        256);
    return;
  }
  each(c.outer * c.channels, cost * static_cast<double>(c.inner), [&](int64_t begin, int64_t end) {
    for (int64_t run = begin; run < end; ++run)
      body(run % c.channels, run * c.inner, (run + 1) * c.inner);
  });
}

}  // namespace penstock::ops
