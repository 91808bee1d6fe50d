#include "penstock/ops/image/glimpse.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "penstock/ops/image/image_batch.h"

namespace penstock::ops {
namespace {

// The first pixel of a window of `window` pixels along an axis. Normalised offsets count in the
// extent of the image, and from -1 to 1 when they are centred on it.
int64_t GlimpsePlace(int version, float offset, int64_t pixels, int64_t window, bool normalized,
                     bool centered) {
  const float extent = static_cast<float>(pixels), half_window = static_cast<float>(window) / 2;
  float place = offset;
  if (version == 1) {
    if (normalized) place *= extent;
    if (centered) place = place / 2 + extent / 2;
    place -= half_window;
  } else if (normalized) {
    place *= extent;
    if (centered) place = place / 2 + extent / 2 - half_window;
  } else if (centered) {
    place += extent / 2;
  }
  // Far enough off to be outside, and small enough to add to.
  constexpr float kFar = 0x1p40f;
  return place >= -kFar && place <= kFar ? static_cast<int64_t>(place) : -(int64_t{1} << 40);
}

struct Range {
  int64_t from;   // in the image
  int64_t to;     // in the window
  int64_t count;  // of pixels
  Range(int64_t place, int64_t pixels, int64_t window)
      : from(std::max<int64_t>(place, 0)), to(std::max<int64_t>(-place, 0)) {
    count = std::max<int64_t>(0, std::min(pixels - from, window - to));
  }
};

// Noise in the range, or of the mean and deviation, of the image itself.
void FillWithNoise(const std::string& kind, const float* image, const ImageBatch& in, int64_t n,
                   uint64_t seed, float* out) {
  std::mt19937_64 random(seed);
  if (kind == "zero" || in.image() == 0) {
    std::fill_n(out, n, 0.0f);
  } else if (kind == "uniform") {
    const auto [low, high] = std::minmax_element(image, image + in.image());
    for (int64_t i = 0; i < n; ++i) {
      const float part = static_cast<float>(random() >> 40) * 0x1p-24f;
      out[i] = *low + part * (*high - *low);
    }
  } else {
    for (int64_t c = 0; c < in.channels; ++c) {
      double sum = 0, squares = 0;
      float low = image[c], high = image[c];
      for (int64_t i = c; i < in.image(); i += in.channels) {
        sum += image[i];
        squares += static_cast<double>(image[i]) * image[i];
        low = std::min(low, image[i]);
        high = std::max(high, image[i]);
      }
      const double pixels = static_cast<double>(in.height * in.width), mean = sum / pixels;
      const double sigma = std::sqrt(std::max(0.0, squares / pixels - mean * mean));
      std::normal_distribution<double> normal;
      for (int64_t i = c; i < n; i += in.channels) {
        const auto value = static_cast<float>(mean + sigma * normal(random));
        out[i] = std::max(std::min(value, high), low);
      }
    }
  }
}

}  // namespace

template <int kVersion>
Status ExtractGlimpseForm<kVersion>::CheckAttrs() const {
  if (!noise.empty() && noise != "uniform" && noise != "gaussian" && noise != "zero")
    return InvalidArgument("noise must be uniform, gaussian or zero, got {}", noise);
  if (uniform_noise && !noise.empty() && noise != "uniform")
    return InvalidArgument("uniform_noise excludes noise {}", noise);
  return OkStatus();
}

template <int kVersion>
Result<Shape> ExtractGlimpseForm<kVersion>::InferShape(const Shape& input, const Integers& size,
                                                       const Shape& offsets) const {
  TRY(CheckRank(input, 4, "input"));
  TRY(CheckRank(offsets, 2, "offsets"));
  if (offsets.has_rank()) {
    const int64_t batch = input.has_rank() ? input[0] : Shape::kUnknownDim;
    if ((offsets[1] >= 0 && offsets[1] != 2) ||
        (offsets[0] >= 0 && batch >= 0 && offsets[0] != batch)) {
      return InvalidArgument("offsets must be [{}, 2], got {}", batch, offsets);
    }
  }
  TRY_ASSIGN(const auto height_and_width, HeightAndWidth(size, "size"));
  return WithSize(input, height_and_width);
}

template <int kVersion>
Status ExtractGlimpseForm<kVersion>::ComputeCpu(CpuContext& context, const Tensor& input,
                                                const Tensor&, const Tensor& offsets,
                                                Tensor& glimpse) const {
  const ImageBatch in(input.shape()), out(glimpse.shape());
  const std::string kind = noise.empty() ? (uniform_noise ? "uniform" : "gaussian") : noise;
  context.parallel()(out.batch, static_cast<double>(out.image()) * 4, [&](int64_t b, int64_t end) {
    for (; b < end; ++b) {
      const float* offset = offsets.data<float>() + 2 * b;
      const float* image = input.data<float>() + b * in.image();
      float* to = glimpse.mutable_data<float>() + b * out.image();
      const Range rows(
          GlimpsePlace(kVersion, offset[0], in.height, out.height, normalized, centered), in.height,
          out.height);
      const Range columns(
          GlimpsePlace(kVersion, offset[1], in.width, out.width, normalized, centered), in.width,
          out.width);
      if (rows.count < out.height || columns.count < out.width)
        FillWithNoise(kind, image, in, out.image(), static_cast<uint64_t>(b), to);
      for (int64_t y = 0; y < rows.count && columns.count > 0; ++y) {
        std::copy_n(image + (rows.from + y) * in.row() + columns.from * in.channels,
                    columns.count * in.channels,
                    to + (rows.to + y) * out.row() + columns.to * out.channels);
      }
    }
  });
  return OkStatus();
}

void RegisterGlimpse(Registrar& registrar) { registrar.AddAll<ExtractGlimpse, ExtractGlimpseV2>(); }

}  // namespace penstock::ops
