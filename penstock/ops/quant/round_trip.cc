#include "penstock/ops/quant/round_trip.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/quant/channels.h"

namespace penstock::ops {
namespace {

using RealTypes16 = Types<float, double, half, bfloat16>;

// One scale for both ends of a range, of which one is then moved.
template <class V>
struct Scale {
  V min, max, steps_per_unit, units_per_step;

  Scale(const RoundTrip& trip, V from, V to) : min(from), max(to) {
    const int bits = static_cast<int>(trip.num_bits);
    const int64_t lowest =
        trip.signed_input ? -(int64_t{1} << (bits - 1)) + (trip.narrow_range ? 1 : 0) : 0;
    const int64_t highest = (int64_t{1} << (trip.signed_input ? bits - 1 : bits)) - 1;
    constexpr V kMost = std::numeric_limits<V>::max();
    const V low = static_cast<V>(lowest), high = static_cast<V>(highest);
    const V by_min = low * min > 0 ? low / min : kMost;
    const V by_max = high * max > 0 ? high / max : kMost;
    if (by_min < by_max) {
      steps_per_unit = by_min;
      units_per_step = min / low;
      max = high * units_per_step;
    } else {
      steps_per_unit = by_max;
      units_per_step = max / high;
      min = low * units_per_step;
    }
  }
};

template <class T>
void RunTyped(CpuContext& context, const RoundTrip& trip, const Channels& channels,
              const Tensor& input, const std::vector<Scale<ComputeType<T>>>& scales,
              Tensor& output) {
  using V = ComputeType<T>;
  const T* from = input.data<T>();
  T* to = output.mutable_data<T>();
  ForEachRun(channels, 6, context.parallel(), [&](int64_t c, int64_t begin, int64_t end) {
    const Scale<V>& scale = scales[static_cast<size_t>(c)];
    for (int64_t i = begin; i < end; ++i) {
      V x = static_cast<V>(from[i]);
      if (trip.range_given) x = std::max(std::min(x, scale.max), scale.min);
      const V steps = x * scale.steps_per_unit;
      const V whole = trip.half_up ? std::floor(steps + V(0.5)) : std::nearbyint(steps);
      to[i] = T(whole * scale.units_per_step);
    }
  });
}

// The least and the greatest of each channel.
template <class T>
void Extremes(const Channels& c, const T* x, std::vector<ComputeType<T>>& low,
              std::vector<ComputeType<T>>& high) {
  using V = ComputeType<T>;
  std::fill(low.begin(), low.end(), std::numeric_limits<V>::infinity());
  std::fill(high.begin(), high.end(), -std::numeric_limits<V>::infinity());
  for (int64_t run = 0; run < c.outer * c.channels; ++run) {
    const auto at = static_cast<size_t>(run % c.channels);
    for (int64_t i = run * c.inner; i < (run + 1) * c.inner; ++i) {
      low[at] = std::min(low[at], static_cast<V>(x[i]));
      high[at] = std::max(high[at], static_cast<V>(x[i]));
    }
  }
}

}  // namespace

Status CheckRoundTrip(const RoundTrip& trip) {
  const int64_t most = trip.signed_input ? 62 : 63;
  if (trip.num_bits > (trip.signed_input ? 1 : 0) && trip.num_bits <= most) return OkStatus();
  return InvalidArgument("num_bits is out of range: {} with signed_input {}", trip.num_bits,
                         trip.signed_input);
}

Status CheckRoundTripShapes(const RoundTrip& trip, const Shape& input, const Shape& min,
                            const Shape& max) {
  // A range that is not given is not read.
  if (!trip.range_given) {
    if (trip.axis < -1) return InvalidArgument("axis must be at least -1, got {}", trip.axis);
    if (input.has_rank() && trip.axis >= input.rank())
      return InvalidArgument("axis must be below the rank {} of the input, got {}", input.rank(),
                             trip.axis);
    return OkStatus();
  }
  TRY(CheckChannels(input, trip.axis, min, "input_min"));
  return CheckChannels(input, trip.axis, max, "input_max");
}

Status RunRoundTrip(CpuContext& context, const RoundTrip& trip, const Tensor& input,
                    const Tensor& min, const Tensor& max, Tensor& output) {
  if (input.num_elements() == 0) return OkStatus();
  const Channels channels = ChannelsOf(input.shape(), trip.axis);
  return ForDType(input.dtype(), RealTypes16(), [&]<class T>() {
    using V = ComputeType<T>;
    const auto count = static_cast<size_t>(channels.channels);
    std::vector<V> low(count), high(count);
    if (trip.range_given) {
      std::copy_n(min.data<T>(), count, low.begin());
      std::copy_n(max.data<T>(), count, high.begin());
    } else {
      Extremes(channels, input.data<T>(), low, high);
    }
    std::vector<Scale<V>> scales;
    for (size_t c = 0; c < count; ++c) {
      if (trip.range_given && low[c] > high[c])
        return InvalidArgument("Invalid range: input_min {} > input_max {}", low[c], high[c]);
      scales.emplace_back(trip, low[c], high[c]);
    }
    RunTyped<T>(context, trip, channels, input, scales, output);
    return OkStatus();
  });
}

Result<Shape> QuantizeAndDequantizeV3::InferShape(const Shape& input, const Shape& min,
                                                  const Shape& max, const Shape& num_bits) const {
  TRY(CheckScalar(num_bits, "num_bits"));
  RoundTrip trip;
  trip.range_given = range_given;
  trip.axis = axis;
  TRY(CheckRoundTripShapes(trip, input, min, max));
  return input;
}
Status QuantizeAndDequantizeV3::ComputeCpu(CpuContext& context, const Tensor& input,
                                           const Tensor& min, const Tensor& max,
                                           const Tensor& num_bits, Tensor& output) const {
  const RoundTrip trip{signed_input, num_bits.scalar<int32_t>(), range_given, false, narrow_range,
                       axis};
  TRY(CheckRoundTrip(trip));
  return RunRoundTrip(context, trip, input, min, max, output);
}

Result<std::array<Shape, 3>> QuantizeAndDequantizeV4Grad::InferShape(const Shape& gradients,
                                                                     const Shape& input,
                                                                     const Shape& min,
                                                                     const Shape& max) const {
  TRY_ASSIGN(Shape shape, MergeShapes(gradients, input));
  TRY(CheckChannels(shape, axis, min, "input_min"));
  TRY(CheckChannels(shape, axis, max, "input_max"));
  return std::array<Shape, 3>{shape, min, max};
}
Status QuantizeAndDequantizeV4Grad::ComputeCpu(CpuContext& context, const Tensor& gradients,
                                               const Tensor& input, const Tensor& min,
                                               const Tensor& max, Tensor& input_backprop,
                                               Tensor& min_backprop, Tensor& max_backprop) const {
  const Channels channels = ChannelsOf(input.shape(), axis);
  return ForDType(input.dtype(), RealTypes16(), [&]<class T>() {
    const auto fill_zero = [](std::span<T> values) {
      std::fill(values.begin(), values.end(), T(0.0f));
    };
    fill_zero(min_backprop.mutable_values<T>());
    fill_zero(max_backprop.mutable_values<T>());
    const T* dy = gradients.data<T>();
    const T* x = input.data<T>();
    T* dx = input_backprop.mutable_data<T>();
    ForEachRun(channels, 2, context.parallel(), [&](int64_t c, int64_t begin, int64_t end) {
      const auto low = static_cast<ComputeType<T>>(min.data<T>()[c]);
      const auto high = static_cast<ComputeType<T>>(max.data<T>()[c]);
      for (int64_t i = begin; i < end; ++i)
        dx[i] = x[i] >= low && x[i] <= high ? dy[i] : T(dy[i] * 0.0f);
    });
    return OkStatus();
  });
}

void RegisterQuantizeRoundTrip(Registrar& registrar) {
  registrar.AddAll<QuantizeAndDequantizeV2, QuantizeAndDequantizeV3, QuantizeAndDequantizeV4,
                   QuantizeAndDequantizeV4Grad>();
}

}  // namespace penstock::ops
