#include "penstock/ops/quant/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/quant/channels.h"

namespace penstock::ops {
namespace {

using QuantisedTypes = Types<qint8, quint8, qint32, qint16, quint16>;

// What is known of a quantised type Q: the integers it is stored as.
template <class Q>
struct Steps {
  using Integer = decltype(Q::value);
  using Limits = std::numeric_limits<Integer>;
  static constexpr auto kLowest = static_cast<float>(Limits::min());
  // The highest that a float below 2^31 can be, for the widest.
  static constexpr float kHighest =
      sizeof(Integer) == 4 ? 2147483520.0f : static_cast<float>(Limits::max());
  static constexpr double kCount =
      static_cast<double>(Limits::max()) - static_cast<double>(Limits::min()) + 1;
  static constexpr float kHalf = Limits::is_signed ? static_cast<float>(kCount / 2) : 0;

  // A float that may be anything as an integer of the type.
  static Q Saturate(float x) {
    const float inside = std::min(std::max(x, kLowest), kHighest);
    return Q{static_cast<Integer>(inside == inside ? inside : kLowest)};
  }
};

// A range that contains 0 and is not too narrow to tell its ends apart.
struct FloatRange {
  float min = 0, max = 0;
};
FloatRange Widened(float from, float to, float ensure_minimum) {
  FloatRange range;
  range.min = std::min(0.0f, from);
  const float apart = std::max(1.0f, std::max(std::fabs(from), std::fabs(to))) * ensure_minimum;
  range.max = std::max(0.0f, std::max(to, range.min + apart));
  return range;
}

// Integers per unit where one scale serves both ends, of which one is at its limit.
template <class Q>
float ScaleOf(FloatRange& range, bool narrow) {
  constexpr float kMost = std::numeric_limits<float>::max();
  using Limits = typename Steps<Q>::Limits;
  const auto lowest = static_cast<float>(int64_t{Limits::min()} + (narrow ? 1 : 0));
  const auto highest = static_cast<float>(Limits::max());
  const float by_min = lowest * range.min > 0 ? lowest / range.min : kMost;
  const float by_max = highest * range.max > 0 ? highest / range.max : kMost;
  const float scale = std::min(by_min, by_max);
  range = {lowest / scale, highest / scale};
  return scale;
}

// MIN_FIRST, both ways.
template <class Q>
struct AlignedRange {
  float scale = 0, origin = 0;  // steps per unit, and the step that min is
  explicit AlignedRange(float min, float max)
      : scale(max == min ? 0.0f : static_cast<float>((Steps<Q>::kCount - 1) / (max - min))),
        origin(std::round(min * scale)) {}
  Q Quantise(float x) const {
    return Steps<Q>::Saturate(std::round(x * scale) - (origin - Steps<Q>::kLowest));
  }
};
template <class Q>
struct AlignedSteps {
  float scale = 0, origin = 0;  // units per step, and what the lowest step stands for
  explicit AlignedSteps(float min, float max)
      : scale(static_cast<float>((max - min) / (Steps<Q>::kCount - 1))),
        origin(max == min ? min : std::round(min / scale) * scale) {}
  float Value(Q q) const {
    return (origin - Steps<Q>::kLowest * scale) + static_cast<float>(q.value) * scale;
  }
};

// The float that an integer stands for, to the last bit, when a range is measured by it.
template <class Q>
float ExactValue(Q q, float min, float max) {
  if (min == max) return min;
  constexpr double kCount = Steps<Q>::kCount;
  const double range = (max - min) * (kCount / (kCount - 1.0));
  const double scale = range / kCount;
  const auto lowest = static_cast<double>(Steps<Q>::Limits::min());
  const double origin = std::round(min / static_cast<float>(scale)) * static_cast<float>(scale);
  return static_cast<float>(origin + (static_cast<double>(q.value) - lowest) * scale);
}

template <class Q>
void QuantiseRun(const QuantizeV2& op, FloatRange& range, const float* from, Q* to, int64_t n) {
  using S = Steps<Q>;
  const auto clamp = [&](float x) { return std::max(std::min(x, range.max), range.min); };
  if (op.mode == "MIN_FIRST") {
    const AlignedRange<Q> aligned(range.min, range.max);
    for (int64_t i = 0; i < n; ++i) to[i] = aligned.Quantise(from[i]);
  } else if (op.mode == "SCALED") {
    const float scale = ScaleOf<Q>(range, op.narrow_range);
    const bool to_even = op.round_mode == "HALF_TO_EVEN";
    for (int64_t i = 0; i < n; ++i) {
      const float steps = clamp(from[i]) * scale;
      to[i] = S::Saturate(to_even ? std::nearbyint(steps) : std::round(steps));
    }
  } else {
    const auto scale = static_cast<float>((S::kCount - 1) / (range.max - range.min));
    for (int64_t i = 0; i < n; ++i) {
      const float steps = (clamp(from[i]) - range.min) * scale;
      to[i] = S::Saturate(S::kHalf == 0 ? std::floor(steps + 0.5f) : std::round(steps - S::kHalf));
    }
  }
}

template <class Q, class T>
void DequantiseRun(const Dequantize& op, FloatRange range, const Q* from, T* to, int64_t n) {
  using S = Steps<Q>;
  const auto fill = [&](auto value) {
    for (int64_t i = 0; i < n; ++i) to[i] = T(value(from[i]));
  };
  if (op.mode == "MIN_FIRST") {
    const AlignedSteps<Q> steps(range.min, range.max);
    fill([&](Q q) { return steps.Value(q); });
  } else if (op.mode == "SCALED") {
    const auto lowest = static_cast<float>(int64_t{S::Limits::min()} + (op.narrow_range ? 1 : 0));
    const auto highest = static_cast<float>(S::Limits::max());
    const float scale = S::Limits::min() == 0 ? range.max / highest
                                              : std::max(range.min / lowest, range.max / highest);
    fill([&](Q q) { return static_cast<float>(q.value) * scale; });
  } else {
    const float scale =
        (range.max - range.min) / (static_cast<float>(S::Limits::max()) - S::kLowest);
    fill([&](Q q) { return (static_cast<float>(q.value) + S::kHalf) * scale + range.min; });
  }
}

// From sums of products to bytes, the common case, in whole numbers of 2^-16.
void RequantiseToBytes(FloatRange in, FloatRange out, const qint32* from, quint8* to, int64_t n) {
  constexpr int kShift = 16;
  constexpr double kOne = 1 << kShift;
  const float in_range = in.max - in.min, out_range = out.max - out.min;
  const auto whole = [](double x) {
    // What does not fit stands for what is far outside.
    constexpr double kMost = 4e18;
    return static_cast<int64_t>(x == x ? std::min(std::max(x, -kMost), kMost) : 0);
  };
  const float inverse = out_range == 0 ? 0.0f : static_cast<float>(255.0 / out_range);
  const float middle = static_cast<float>((in.min + in.max) / 2.0);
  const int64_t scale = out_range == 0 ? 0 : whole(255.0 * kOne * in_range / out_range);
  const int64_t in_offset = whole(static_cast<double>(middle * inverse * static_cast<float>(kOne)));
  const int64_t out_offset =
      out_range == 0 ? 0 : whole(std::round(kOne * (out.min * 255.0) / out_range));
  for (int64_t i = 0; i < n; ++i) {
    const auto product = static_cast<__int128>(from[i].value) * scale >> 32;
    const __int128 sum = product + in_offset - out_offset + (1 << (kShift - 1));
    const __int128 byte = sum >> kShift;
    to[i].value = static_cast<uint8_t>(byte < 0 ? 0 : byte > 255 ? 255 : byte);
  }
}

template <class From, class To>
void RequantiseRun(FloatRange in, FloatRange out, const From* from, To* to, int64_t n) {
  if constexpr (std::is_same_v<From, qint32> && std::is_same_v<To, quint8>) {
    RequantiseToBytes(in, out, from, to, n);
  } else {
    const AlignedSteps<From> steps(in.min, in.max);
    const AlignedRange<To> aligned(out.min, out.max);
    for (int64_t i = 0; i < n; ++i) to[i] = aligned.Quantise(steps.Value(from[i]));
  }
}

Status RequantiseAll(CpuContext& context, const Tensor& input, FloatRange in, FloatRange out,
                     Tensor& output) {
  return ForDType(input.dtype(), QuantisedTypes(), [&]<class From>() {
    return ForDType(output.dtype(), QuantisedTypes(), [&]<class To>() {
      context.parallel()(input.num_elements(), 4, [&](int64_t begin, int64_t end) {
        RequantiseRun(in, out, input.data<From>() + begin, output.mutable_data<To>() + begin,
                      end - begin);
      });
      return OkStatus();
    });
  });
}

Result<FloatRange> UsedRange(const Tensor& input, FloatRange range) {
  FloatRange used;
  if (input.num_elements() == 0) return used;
  TRY(ForDType(input.dtype(), QuantisedTypes(), [&]<class Q>() {
    const auto values = input.values<Q>();
    const auto [low, high] = std::minmax_element(values.begin(), values.end(),
                                                 [](Q a, Q b) { return a.value < b.value; });
    // Not above 0, which convolutions pad with.
    used.min = std::min(0.0f, ExactValue(*low, range.min, range.max));
    used.max = ExactValue(*high, range.min, range.max);
    return OkStatus();
  }));
  return used;
}

FloatRange RangeIn(const Tensor& min, const Tensor& max) {
  return {min.scalar<float>(), max.scalar<float>()};
}
void Store(const FloatRange& range, Tensor& min, Tensor& max) {
  *min.mutable_data<float>() = range.min;
  *max.mutable_data<float>() = range.max;
}

Status CheckScalars(std::initializer_list<std::pair<const Shape*, std::string_view>> shapes) {
  for (const auto& [shape, what] : shapes) TRY(CheckScalar(*shape, what));
  return OkStatus();
}

}  // namespace

Status QuantizeV2::CheckAttrs() const {
  if (round_mode == "HALF_TO_EVEN" && mode != "SCALED")
    return InvalidArgument("round mode HALF_TO_EVEN is only supported for mode SCALED, got {}",
                           mode);
  return OkStatus();
}
Result<std::array<Shape, 3>> QuantizeV2::InferShape(const Shape& input, const Shape& min_range,
                                                    const Shape& max_range) const {
  TRY(CheckChannels(input, axis, min_range, "min_range"));
  TRY(CheckChannels(input, axis, max_range, "max_range"));
  TRY_ASSIGN(Shape range, MergeShapes(min_range, max_range));
  return std::array<Shape, 3>{input, range, range};
}
Status QuantizeV2::ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& min_range,
                              const Tensor& max_range, Tensor& output, Tensor& output_min,
                              Tensor& output_max) const {
  const Channels channels = ChannelsOf(input.shape(), axis);
  for (int64_t c = 0; c < channels.channels; ++c) {
    if (min_range.data<float>()[c] > max_range.data<float>()[c])
      return InvalidArgument("min_range must not exceed max_range, got {} > {}",
                             min_range.data<float>()[c], max_range.data<float>()[c]);
  }
  return ForDType(output.dtype(), QuantisedTypes(), [&]<class Q>() {
    const auto range_of = [&](int64_t c) {
      return Widened(min_range.data<float>()[c], max_range.data<float>()[c], ensure_minimum_range);
    };
    for (int64_t c = 0; c < channels.channels; ++c) {
      FloatRange range = range_of(c);
      QuantiseRun<Q>(*this, range, nullptr, nullptr, 0);  // settles the range
      output_min.mutable_data<float>()[c] = range.min;
      output_max.mutable_data<float>()[c] = range.max;
    }
    ForEachRun(channels, 6, context.parallel(), [&](int64_t c, int64_t begin, int64_t end) {
      FloatRange range = range_of(c);
      QuantiseRun(*this, range, input.data<float>() + begin, output.mutable_data<Q>() + begin,
                  end - begin);
    });
    return OkStatus();
  });
}

Result<Shape> Dequantize::InferShape(const Shape& input, const Shape& min_range,
                                     const Shape& max_range) const {
  TRY(CheckChannels(input, axis, min_range, "min_range"));
  TRY(CheckChannels(input, axis, max_range, "max_range"));
  return input;
}
Status Dequantize::ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& min_range,
                              const Tensor& max_range, Tensor& output) const {
  const Channels channels = ChannelsOf(input.shape(), axis);
  return ForDType(input.dtype(), QuantisedTypes(), [&]<class Q>() {
    return ForDType(output.dtype(), Types<float, bfloat16>(), [&]<class T>() {
      ForEachRun(channels, 3, context.parallel(), [&](int64_t c, int64_t begin, int64_t end) {
        const FloatRange range{min_range.data<float>()[c], max_range.data<float>()[c]};
        DequantiseRun(*this, range, input.data<Q>() + begin, output.mutable_data<T>() + begin,
                      end - begin);
      });
      return OkStatus();
    });
  });
}

Result<std::array<Shape, 2>> RequantizationRange::InferShape(const Shape&, const Shape& input_min,
                                                             const Shape& input_max) const {
  TRY(CheckScalars({{&input_min, "input_min"}, {&input_max, "input_max"}}));
  return std::array<Shape, 2>{};
}
Status RequantizationRange::ComputeCpu(CpuContext&, const Tensor& input, const Tensor& input_min,
                                       const Tensor& input_max, Tensor& output_min,
                                       Tensor& output_max) const {
  TRY_ASSIGN(const FloatRange used, UsedRange(input, RangeIn(input_min, input_max)));
  Store(used, output_min, output_max);
  return OkStatus();
}

Result<std::array<Shape, 3>> Requantize::InferShape(const Shape& input, const Shape& input_min,
                                                    const Shape& input_max,
                                                    const Shape& requested_min,
                                                    const Shape& requested_max) const {
  TRY(CheckScalars({{&input_min, "input_min"},
                    {&input_max, "input_max"},
                    {&requested_min, "requested_output_min"},
                    {&requested_max, "requested_output_max"}}));
  return std::array<Shape, 3>{input, Shape(), Shape()};
}
Status Requantize::ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& input_min,
                              const Tensor& input_max, const Tensor& requested_min,
                              const Tensor& requested_max, Tensor& output, Tensor& output_min,
                              Tensor& output_max) const {
  const FloatRange requested = RangeIn(requested_min, requested_max);
  if (!(requested.min <= 0))
    return InvalidArgument("requested_output_min must be <= 0, but got {}", requested.min);
  if (!(requested.max >= requested.min))
    return InvalidArgument(
        "requested_output_max must be >= requested_output_min, but got {} and {}", requested.max,
        requested.min);
  Store(requested, output_min, output_max);
  return RequantiseAll(context, input, RangeIn(input_min, input_max), requested, output);
}

Result<std::array<Shape, 3>> QuantizeDownAndShrinkRange::InferShape(const Shape& input,
                                                                    const Shape& input_min,
                                                                    const Shape& input_max) const {
  TRY(CheckScalars({{&input_min, "input_min"}, {&input_max, "input_max"}}));
  return std::array<Shape, 3>{input, Shape(), Shape()};
}
Status QuantizeDownAndShrinkRange::ComputeCpu(CpuContext& context, const Tensor& input,
                                              const Tensor& input_min, const Tensor& input_max,
                                              Tensor& output, Tensor& output_min,
                                              Tensor& output_max) const {
  const FloatRange range = RangeIn(input_min, input_max);
  TRY_ASSIGN(const FloatRange used, UsedRange(input, range));
  Store(used, output_min, output_max);
  return RequantiseAll(context, input, range, used, output);
}

void RegisterQuantize(Registrar& registrar) {
  registrar.AddAll<QuantizeV2, Dequantize, RequantizationRange, Requantize,
                   QuantizeDownAndShrinkRange>();
}

}  // namespace penstock::ops
