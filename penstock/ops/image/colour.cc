#include "penstock/ops/image/colour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "penstock/ops/image/image_batch.h"

namespace penstock::ops {
namespace {

// Arithmetic on 16-bit floats is in float.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
template <class F>
using Colour = std::array<F, 3>;

template <class F>
Colour<F> ToHsv(const Colour<F>& rgb) {
  const auto [r, g, b] = rgb;
  const F value = std::max({r, g, b});
  const F range = value - std::min({r, g, b});
  F hue = 0;
  if (range > 0) {
    const F norm = (1 / range) * (F(1) / F(6));
    if (r == value) {
      hue = norm * (g - b);
    } else if (g == value) {
      hue = norm * (b - r) + F(2) / F(6);
    } else {
      hue = norm * (r - g) + F(4) / F(6);
    }
    if (hue < 0) hue += 1;
  }
  return {hue, value > 0 ? range / value : F(0), value};
}

template <class F>
Colour<F> ToRgb(const Colour<F>& hsv) {
  const auto [hue, saturation, value] = hsv;
  const F place = hue * 6;
  const auto channel = [&](F height) {
    const F amount = std::min(std::max(height, F(0)), F(1));
    return (1 - saturation + saturation * amount) * value;
  };
  return {channel(std::abs(place - 3) - 1), channel(2 - std::abs(place - 2)),
          channel(2 - std::abs(place - 4))};
}

// The hue in [0, 6) as a part of the way from one primary or secondary colour to the next.
Colour<float> TurnHue(const Colour<float>& rgb, float turn) {
  const auto [r, g, b] = rgb;
  const float high = std::max({r, g, b}), low = std::min({r, g, b});
  const float middle = std::max(std::min(r, g), std::min(std::max(r, g), b));
  int sector = 0;
  if (r < g) {
    sector = b < r ? 1 : b > g ? 3 : 2;
  } else {
    sector = b < g ? 0 : b > r ? 4 : 5;
  }
  float hue = 0;
  if (high != low) {
    const float part = (middle - low) / (high - low);
    hue = static_cast<float>(sector) + (sector % 2 == 0 ? part : 1 - part);
  }
  hue += turn * 6;
  if (!(std::abs(hue) < 100)) hue = std::fmod(hue, 6.0f);
  while (hue < 0) hue += 6;
  while (hue >= 6) hue -= 6;
  sector = hue >= 0 ? static_cast<int>(hue) : 5;  // NaN as the last
  float part = hue - static_cast<float>(sector);
  if (sector % 2 != 0) part = 1 - part;
  const float between = low + part * (high - low);
  switch (sector) {
    case 0:
      return {high, between, low};
    case 1:
      return {between, high, low};
    case 2:
      return {low, high, between};
    case 3:
      return {low, between, high};
    case 4:
      return {between, low, high};
    default:
      return {high, low, between};
  }
}

Colour<float> ScaleSaturation(const Colour<float>& rgb, float scale) {
  const auto [r, g, b] = rgb;
  const float value = std::max({r, g, b});
  const float range = value - std::min({r, g, b});
  const float norm = 1.0f / (6.0f * range);
  float hue = r == value   ? norm * (g - b)
              : g == value ? norm * (b - r) + 2.0f / 6.0f
                           : norm * (r - g) + 4.0f / 6.0f;
  if (range <= 0) hue = 0;
  if (hue < 0) hue += 1;
  const float saturation =
      std::min(1.0f, std::max(0.0f, (value > 0 ? range / value : 0.0f) * scale));
  const float chroma = saturation * value;
  const float floor = value - chroma;
  const float place = hue * 6;
  float wave = place;
  if (wave <= 0) wave += 2;
  while (wave >= 2) wave -= 2;
  const float x = chroma * (1 - std::abs(wave - 1));
  const auto raised = [&](float red, float green, float blue) {
    return Colour<float>{red + floor, green + floor, blue + floor};
  };
  switch (place >= 0 && place < 6 ? static_cast<int>(place) : -1) {
    case 0:
      return raised(chroma, x, 0);
    case 1:
      return raised(x, chroma, 0);
    case 2:
      return raised(0, chroma, x);
    case 3:
      return raised(0, x, chroma);
    case 4:
      return raised(x, 0, chroma);
    case 5:
      return raised(chroma, 0, x);
    default:
      return raised(0, 0, 0);
  }
}

template <class T, class F>
Status EachPixel(CpuContext& context, const Tensor& images, Tensor& output, F&& map) {
  using W = Wide<T>;
  const T* from = images.data<T>();
  T* to = output.mutable_data<T>();
  context.parallel()(images.num_elements() / 3, 30, [&](int64_t begin, int64_t end) {
    for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
      const Colour<W> colour = map(Colour<W>{W(from[i]), W(from[i + 1]), W(from[i + 2])});
      for (int c = 0; c < 3; ++c) to[i + c] = T(colour[c]);
    }
  });
  return OkStatus();
}

Result<Shape> InferColours(const Shape& images, int rank) {
  TRY(CheckRankAtLeast(images, rank, "images"));
  if (!images.has_rank()) return images;
  const int64_t channels = images[images.rank() - 1];
  if (channels >= 0 && channels != 3)
    return InvalidArgument("images must have 3 channels, got shape {}", images);
  Shape output = images;
  output.set_dim(images.rank() - 1, 3);
  return output;
}

// The mean of each channel of image b.
std::vector<float> Means(const float* image, const ImageBatch& in) {
  std::vector<double> sums(static_cast<size_t>(in.channels));
  for (int64_t i = 0; i < in.image(); ++i) sums[i % in.channels] += image[i];
  std::vector<float> means(sums.size());
  for (size_t c = 0; c < sums.size(); ++c)
    means[c] = static_cast<float>(sums[c] / static_cast<double>(in.height * in.width));
  return means;
}

// Images of any rank from 3 on, as a batch.
Shape AsBatch(const Shape& images) {
  const int rank = images.rank();
  return Shape{images.Slice(0, rank - 3).num_elements(), images[rank - 3], images[rank - 2],
               images[rank - 1]};
}

// What is true, as numbers of the type of `like`.
Expr Number(const Expr& truth, const Expr& like) {
  return Op("Cast", truth, {{"DstT", like.dtype()}});
}

}  // namespace

Result<Shape> RGBToHSV::InferShape(const Shape& images) const { return InferColours(images, 1); }

// With M the greatest channel, m the least and a circle of channels: value M, saturation 1 - m / M,
// hue (M's place + (next - previous) / (M - m)) / 6. Of equals the first is greatest, the last
// least.
void RGBToHSV::Gradient(Gradients& g) const {
  const auto channels = [&](const Expr& x) {
    const Expr unpacked = Op("Unpack", x, {{"num", 3}, {"axis", -1}});
    return Colour<Expr>{unpacked, unpacked.Output(1), unpacked.Output(2)};
  };
  const auto both = [](const Expr& a, const Expr& b) { return Op("LogicalAnd", a, b); };
  const auto quotient = [](const Expr& a, const Expr& b) { return Op("DivNoNan", a, b); };
  const Colour<Expr> x = channels(g.input(0)), dy = channels(g.dy());
  const Expr zero = g.scope().Like(x[0], 0);
  const auto& [red, green, blue] = x;
  const Colour<Expr> greatest{
      Number(both(Op("GreaterEqual", red, green), Op("GreaterEqual", red, blue)), red),
      Number(both(Op("Greater", green, red), Op("GreaterEqual", green, blue)), red),
      Number(both(Op("Greater", blue, red), Op("Greater", blue, green)), red)};
  const Colour<Expr> least{
      Number(both(Op("Less", red, green), Op("Less", red, blue)), red),
      Number(both(Op("LessEqual", green, red), Op("Less", green, blue)), red),
      Number(both(Op("LessEqual", blue, red), Op("LessEqual", blue, green)), red)};
  const auto pick = [&](const Colour<Expr>& mask) {
    return mask[0] * x[0] + mask[1] * x[1] + mask[2] * x[2];
  };
  const Expr high = pick(greatest), low = pick(least), range = high - low;
  // +1 for the channel after the greatest one, -1 for the one before.
  const Colour<Expr> side{greatest[2] - greatest[1], greatest[0] - greatest[2],
                          greatest[1] - greatest[0]};
  const Expr slope = quotient(pick(side), range * range);
  const Expr positive = Number(Op("Greater", high, zero), red);
  std::vector<Expr> dx;
  for (int c = 0; c < 3; ++c) {
    const Expr dh = positive * (quotient(side[c], range) - (greatest[c] - least[c]) * slope) / 6.0;
    const Expr ds = Number(Op("Greater", x[c], zero), red) *
                    (quotient(greatest[c] * low, high * high) - quotient(least[c], high));
    dx.push_back(dy[2] * greatest[c] + dy[1] * ds + dy[0] * dh);
  }
  g.Set(0, g.scope().Add("Pack", dx, {{"N", 3}, {"axis", -1}}));
}

template <class T>
Status RGBToHSV::ComputeCpu(CpuContext& context, const Tensor& images, Tensor& output) const {
  return EachPixel<T>(context, images, output, &ToHsv<Wide<T>>);
}

Result<Shape> HSVToRGB::InferShape(const Shape& images) const { return InferColours(images, 1); }
template <class T>
Status HSVToRGB::ComputeCpu(CpuContext& context, const Tensor& images, Tensor& output) const {
  return EachPixel<T>(context, images, output, &ToRgb<Wide<T>>);
}

Result<Shape> AdjustHue::InferShape(const Shape& images, const Shape& delta) const {
  TRY(CheckScalar(delta, "delta"));
  return InferColours(images, 3);
}
template <class T>
Status AdjustHue::ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& delta,
                             Tensor& output) const {
  const float turn = delta.scalar<float>();
  return EachPixel<T>(context, images, output,
                      [turn](const Colour<float>& rgb) { return TurnHue(rgb, turn); });
}

Result<Shape> AdjustSaturation::InferShape(const Shape& images, const Shape& scale) const {
  TRY(CheckScalar(scale, "scale"));
  return InferColours(images, 3);
}
template <class T>
Status AdjustSaturation::ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& scale,
                                    Tensor& output) const {
  const float factor = scale.scalar<float>();
  return EachPixel<T>(context, images, output,
                      [factor](const Colour<float>& rgb) { return ScaleSaturation(rgb, factor); });
}

Result<Shape> AdjustContrastv2::InferShape(const Shape& images,
                                           const Shape& contrast_factor) const {
  TRY(CheckScalar(contrast_factor, "contrast_factor"));
  TRY(CheckRankAtLeast(images, 3, "images"));
  return images;
}
template <class T>
Status AdjustContrastv2::ComputeCpu(CpuContext& context, const Tensor& images,
                                    const Tensor& contrast_factor, Tensor& output) const {
  if (images.num_elements() == 0) return OkStatus();
  const ImageBatch in(AsBatch(images.shape()));
  const float factor = contrast_factor.scalar<float>();
  context.parallel()(in.batch, static_cast<double>(in.image()) * 4, [&](int64_t b, int64_t end) {
    for (; b < end; ++b) {
      const T* from = images.data<T>() + b * in.image();
      const std::vector<float> means = Means(from, in);
      T* to = output.mutable_data<T>() + b * in.image();
      for (int64_t i = 0; i < in.image(); ++i) {
        const float mean = means[i % in.channels];
        to[i] = mean + (from[i] - mean) * factor;
      }
    }
  });
  return OkStatus();
}

void RegisterColour(Registrar& registrar) {
  registrar.AddAll<RGBToHSV, HSVToRGB, AdjustHue, AdjustSaturation, AdjustContrastv2>();
}

}  // namespace penstock::ops
