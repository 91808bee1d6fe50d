#include "penstock/ops/quant/fake_quant.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace penstock::ops {
namespace {

// A range moved a little, so that 0 is one of its steps.
struct Nudged {
  float min = 0, max = 0, scale = 0, inverse = 0;
  bool empty = false;  // from 0 to 0: all that it holds is 0

  Nudged(float from, float to, const FakeQuantBits& bits) {
    empty = from == 0 && to == 0;
    const float lowest = bits.narrow_range ? 1 : 0;
    const auto highest = static_cast<float>((int64_t{1} << bits.num_bits) - 1);
    scale = (to - from) / (highest - lowest);
    inverse = (highest - lowest) / (to - from);
    const float zero = lowest - from / scale;
    // std::round of what is no number stays none.
    const float nudged_zero = zero < lowest ? lowest : zero > highest ? highest : std::round(zero);
    min = (lowest - nudged_zero) * scale;
    max = (highest - nudged_zero) * scale;
  }

  bool Contains(float x) const { return empty || (x >= min && x <= max); }
  // The step that 0 is.
  float Zero() const { return std::floor(-min * inverse + 0.5f); }
};

// Fills `to` by the steps of a range. Which way the scale is applied decides the last bit.
void Quantize(const Nudged& range, bool by_inverse, const float* from, float* to, int64_t n) {
  if (range.empty) {
    std::fill_n(to, n, 0.0f);
    return;
  }
  const float zero = range.Zero();
  for (int64_t i = 0; i < n; ++i) {
    const float shifted = std::max(std::min(from[i], range.max), range.min) - range.min;
    const float steps = by_inverse ? shifted * range.inverse : shifted / range.scale;
    to[i] = std::floor(steps - zero + 0.5f) * range.scale;
  }
}

// Rows of channels: all elements are one row of one channel when there is one range for all.
struct Layout {
  int64_t rows = 0, channels = 0;
  Layout(const Tensor& inputs, bool per_channel) {
    const int64_t n = inputs.num_elements();
    channels = per_channel ? inputs.shape()[inputs.shape().rank() - 1] : 1;
    rows = channels == 0 ? 0 : n / channels;
  }
};

std::vector<Nudged> Ranges(const FakeQuantBits& bits, const Tensor& min, const Tensor& max) {
  std::vector<Nudged> ranges;
  for (int64_t i = 0; i < min.num_elements(); ++i)
    ranges.emplace_back(min.data<float>()[i], max.data<float>()[i], bits);
  return ranges;
}

}  // namespace

Status CheckFakeQuant(const FakeQuantBits& bits) {
  if (bits.num_bits >= 2 && bits.num_bits <= 16) return OkStatus();
  return InvalidArgument("num_bits must be between 2 and 16, inclusive, got {}", bits.num_bits);
}

Status CheckFakeQuantRange(const Shape& inputs, const Shape& min, const Shape& max,
                           bool per_channel) {
  if (!per_channel) {
    TRY(CheckScalar(min, "min"));
    return CheckScalar(max, "max");
  }
  TRY(CheckRankAtLeast(inputs, 1, "inputs"));
  for (const auto& [shape, what] : {std::pair{&min, "min"}, std::pair{&max, "max"}}) {
    TRY(CheckVector(*shape, what));
    if (!inputs.has_rank() || !shape->has_rank()) continue;
    const int64_t depth = inputs[inputs.rank() - 1];
    if (depth >= 0 && (*shape)[0] >= 0 && depth != (*shape)[0])
      return InvalidArgument("{} has incorrect size, expected {} was {}", what, depth, (*shape)[0]);
  }
  return OkStatus();
}

Status FakeQuantize(CpuContext& context, const FakeQuantBits& bits, const Tensor& inputs,
                    const Tensor& min, const Tensor& max, bool per_channel, Tensor& outputs) {
  const std::vector<Nudged> ranges = Ranges(bits, min, max);
  const Layout layout(inputs, per_channel);
  const float* from = inputs.data<float>();
  float* to = outputs.mutable_data<float>();
  context.parallel()(
      layout.rows, 6.0 * static_cast<double>(layout.channels), [&](int64_t begin, int64_t end) {
        if (!per_channel) return Quantize(ranges[0], false, from + begin, to + begin, end - begin);
        for (int64_t i = begin * layout.channels; i < end * layout.channels; ++i)
          Quantize(ranges[static_cast<size_t>(i % layout.channels)], false, from + i, to + i, 1);
      });
  return OkStatus();
}

Status FakeQuantizeGradient(CpuContext& context, const FakeQuantBits& bits, const Tensor& gradients,
                            const Tensor& inputs, const Tensor& min, const Tensor& max,
                            bool per_channel, std::span<Tensor* const> backprops) {
  const std::vector<Nudged> ranges = Ranges(bits, min, max);
  const Layout layout(inputs, per_channel);
  const float* dy = gradients.data<float>();
  const float* x = inputs.data<float>();
  float* dx = backprops[0]->mutable_data<float>();
  // A thread has channels, or blocks of the one there is: sums are added up in the same order
  // whatever the number of threads.
  constexpr int64_t kBlock = 4096;
  const int64_t parts =
      per_channel ? layout.channels : std::max<int64_t>((layout.rows + kBlock - 1) / kBlock, 1);
  std::vector<double> below(static_cast<size_t>(parts)), above(static_cast<size_t>(parts));
  const auto part_of = [&](int64_t part) {
    const Nudged& range = ranges[per_channel ? static_cast<size_t>(part) : 0];
    const int64_t first = per_channel ? part : part * kBlock;
    const int64_t step = per_channel ? layout.channels : 1;
    const int64_t count = per_channel ? layout.rows : std::min(kBlock, layout.rows - part * kBlock);
    for (int64_t k = 0, i = first; k < count; ++k, i += step) {
      const bool inside = range.Contains(x[i]);
      dx[i] = inside ? dy[i] : dy[i] * 0;
      if (inside) continue;
      if (x[i] < range.min) below[static_cast<size_t>(part)] += dy[i];
      if (x[i] > range.max) above[static_cast<size_t>(part)] += dy[i];
    }
  };
  context.parallel()(parts, 4.0 * static_cast<double>(per_channel ? layout.rows : kBlock),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t part = begin; part < end; ++part) part_of(part);
                     });
  for (const auto& [sums, out] :
       {std::pair{&below, backprops[1]}, std::pair{&above, backprops[2]}}) {
    float* to = out->mutable_data<float>();
    if (per_channel) {
      for (size_t c = 0; c < sums->size(); ++c) to[c] = static_cast<float>((*sums)[c]);
    } else {
      double sum = 0;
      for (const double part : *sums) sum += part;
      to[0] = static_cast<float>(sum);
    }
  }
  return OkStatus();
}

void FakeQuantGradient(Gradients& g, std::string_view op, const FakeQuantBits& bits) {
  const Expr first =
      g.scope().Add(op, {g.dy(), g.input(0), g.input(1), g.input(2)},
                    {{"num_bits", bits.num_bits}, {"narrow_range", bits.narrow_range}});
  for (int i = 0; i < 3; ++i) g.Set(i, first.Output(i));
}

void FakeQuantWithMinMaxArgs::Gradient(Gradients& g) const {
  g.Set(0,
        Op("FakeQuantWithMinMaxArgsGradient", g.dy(), g.input(0),
           {{"min", min}, {"max", max}, {"num_bits", num_bits}, {"narrow_range", narrow_range}}));
}
Status FakeQuantWithMinMaxArgs::ComputeCpu(CpuContext& context, const Tensor& inputs,
                                           Tensor& outputs) const {
  const Nudged range(min, max, {num_bits, narrow_range});
  context.parallel()(inputs.num_elements(), 4, [&](int64_t begin, int64_t end) {
    Quantize(range, true, inputs.data<float>() + begin, outputs.mutable_data<float>() + begin,
             end - begin);
  });
  return OkStatus();
}

Status FakeQuantWithMinMaxArgsGradient::ComputeCpu(CpuContext& context, const Tensor& gradients,
                                                   const Tensor& inputs, Tensor& backprops) const {
  const Nudged range(min, max, {num_bits, narrow_range});
  const float* dy = gradients.data<float>();
  const float* x = inputs.data<float>();
  float* dx = backprops.mutable_data<float>();
  context.parallel()(inputs.num_elements(), 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) dx[i] = range.Contains(x[i]) ? dy[i] : dy[i] * 0;
  });
  return OkStatus();
}

void RegisterFakeQuant(Registrar& registrar) {
  registrar.AddAll<FakeQuantWithMinMaxArgs, FakeQuantWithMinMaxArgsGradient,
                   FakeQuantWithMinMaxVars, FakeQuantWithMinMaxVarsGradient,
                   FakeQuantWithMinMaxVarsPerChannel, FakeQuantWithMinMaxVarsPerChannelGradient>();
}

}  // namespace penstock::ops
