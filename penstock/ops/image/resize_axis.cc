#include "penstock/ops/image/resize_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace penstock::ops {
namespace {

constexpr int kSteps = 1024;

// The cubic kernel of parameter `a` at distances within one pixel, and within the next.
struct CubicTable {
  std::array<float, kSteps + 1> near;
  std::array<float, kSteps + 1> far;

  explicit CubicTable(double a) {
    for (int i = 0; i <= kSteps; ++i) {
      float x = static_cast<float>(static_cast<double>(i) / kSteps);
      near[i] = static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1);
      x += 1;
      far[i] = static_cast<float>(((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
    }
  }
};

// Scales the weights so that they sum to one, unless they all but vanish.
void Normalise(float* weights) {
  const float sum = weights[0] + weights[1] + weights[2] + weights[3];
  if (std::abs(sum) < 1000.0f * std::numeric_limits<float>::min()) return;
  const float inverse = 1.0f / sum;
  for (int k = 0; k < 4; ++k) weights[k] *= inverse;
}

}  // namespace

ResizeTaps LinearTaps(const ResizeAxis& axis) {
  ResizeTaps taps{2, std::vector<int64_t>(axis.to * 2), std::vector<float>(axis.to * 2)};
  for (int64_t i = 0; i < axis.to; ++i) {
    const float place = axis.At(i);
    const float below = std::floor(place);
    const float part = place - below;
    taps.pixels[2 * i] = std::clamp<int64_t>(static_cast<int64_t>(below), 0, axis.from - 1);
    taps.pixels[2 * i + 1] =
        std::clamp<int64_t>(static_cast<int64_t>(std::ceil(place)), 0, axis.from - 1);
    taps.weights[2 * i] = 1.0f - part;
    taps.weights[2 * i + 1] = part;
  }
  return taps;
}

ResizeTaps CubicTaps(const ResizeAxis& axis) {
  static const CubicTable keys(-0.5);
  static const CubicTable legacy(-0.75);
  const CubicTable& table = axis.half_pixel_centers ? keys : legacy;
  ResizeTaps taps{4, std::vector<int64_t>(axis.to * 4), std::vector<float>(axis.to * 4)};
  for (int64_t i = 0; i < axis.to; ++i) {
    const float place = axis.At(i);
    const int64_t below = static_cast<int64_t>(std::floor(place));
    const float part = place - static_cast<float>(below);
    const int64_t step = std::clamp<int64_t>(std::lrintf(part * kSteps), 0, kSteps);
    float* weights = &taps.weights[4 * i];
    weights[0] = table.far[step];
    weights[1] = table.near[step];
    weights[2] = table.near[kSteps - step];
    weights[3] = table.far[kSteps - step];
    for (int k = 0; k < 4; ++k) {
      const int64_t wanted = below - 1 + k;
      const int64_t pixel = std::clamp<int64_t>(wanted, 0, axis.from - 1);
      taps.pixels[4 * i + k] = pixel;
      if (axis.half_pixel_centers && pixel != wanted) weights[k] = 0;
    }
    if (axis.half_pixel_centers) Normalise(weights);
  }
  return taps;
}

std::vector<int64_t> NearestPixels(const ResizeAxis& axis, bool align_corners) {
  std::vector<int64_t> pixels(axis.to);
  for (int64_t i = 0; i < axis.to; ++i) {
    const float index = static_cast<float>(i);
    const float place = axis.half_pixel_centers ? (index + 0.5f) * axis.scale : index * axis.scale;
    const float nearest = align_corners ? std::round(place) : std::floor(place);
    pixels[i] = std::clamp<int64_t>(static_cast<int64_t>(nearest), 0, axis.from - 1);
  }
  return pixels;
}

}  // namespace penstock::ops
