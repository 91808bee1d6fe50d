#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "penstock/ops/image/image_batch.h"
#include "penstock/ops/image/resize.h"
#include "penstock/ops/image/resize_axis.h"

namespace penstock::ops {
namespace {

// The pixels [begin, end) of the original that a resized pixel covers, which may lie past its edge,
// and how much of each.
struct Cover {
  int64_t begin;
  int64_t end;
  float from;
  float to;
  float scale;

  Cover(int64_t i, float axis_scale)
      : from(static_cast<float>(i) * axis_scale),
        to(static_cast<float>(i + 1) * axis_scale),
        scale(axis_scale) {
    begin = static_cast<int64_t>(std::floor(from));
    end = static_cast<int64_t>(std::ceil(to));
  }
  float Part(int64_t pixel) const {
    const float left = static_cast<float>(pixel), right = static_cast<float>(pixel + 1);
    if (left < from) return right > to ? scale : right - from;
    return right > to ? to - left : 1.0f;
  }
};

// A cover along a row, with its pixels within the image and the parts of its two ends.
struct Span {
  int64_t begin;
  int64_t end;
  float first;
  float last;
};

std::vector<Span> SpansOf(const ResizeAxis& axis) {
  std::vector<Span> spans;
  spans.reserve(static_cast<size_t>(axis.to));
  for (int64_t i = 0; i < axis.to; ++i) {
    const Cover cover(i, axis.scale);
    spans.push_back({cover.begin, cover.end, cover.Part(cover.begin), cover.Part(cover.end - 1)});
  }
  return spans;
}

struct WeightedRow {
  const float* pixels;
  float part;
};

// One row of the result: C channels at a time.
template <int C>
void SumAreas(const std::vector<WeightedRow>& rows, const std::vector<Span>& across, int64_t width,
              int64_t channels, float mean, float* to) {
  for (const Span& span : across) {
    std::array<float, C> sums{};
    for (const WeightedRow& row : rows) {
      const auto at = [&](int64_t x) {
        return row.pixels + std::clamp<int64_t>(x, 0, width - 1) * channels;
      };
      std::array<float, C> line;
      const float* pixel = at(span.begin);
      for (int c = 0; c < C; ++c) line[c] = pixel[c] * span.first;
      if (span.begin + 1 != span.end) {
        for (int64_t x = span.begin + 1; x < span.end - 1; ++x) {
          pixel = at(x);
          for (int c = 0; c < C; ++c) line[c] += pixel[c];
        }
        pixel = at(span.end - 1);
        for (int c = 0; c < C; ++c) line[c] += pixel[c] * span.last;
      }
      for (int c = 0; c < C; ++c) sums[c] += line[c] * row.part;
    }
    for (int c = 0; c < C; ++c) to[c] = sums[c] * mean;
    to += channels;
  }
}

}  // namespace

Status ResizeArea::ComputeCpu(CpuContext& context, const Tensor& images, const Tensor&,
                              Tensor& resized_images) const {
  if (resized_images.num_elements() == 0) return OkStatus();
  const ImageBatch in(images.shape()), out(resized_images.shape());
  TRY_ASSIGN(const Tensor floats, AsFloat(context, images));
  const ResizeAxis height(in.height, out.height, align_corners, false);
  const ResizeAxis width(in.width, out.width, align_corners, false);
  const std::vector<Span> across = SpansOf(width);
  const float mean = static_cast<float>(1.0 / (height.scale * width.scale));
  const double per_row = static_cast<double>(in.row() * (height.scale + 1) + out.row());
  context.parallel()(out.batch * out.height, per_row * 2, [&](int64_t begin, int64_t end) {
    std::vector<WeightedRow> rows;
    for (int64_t i = begin; i < end; ++i) {
      const Cover down(i % out.height, height.scale);
      const float* image = floats.data<float>() + i / out.height * in.image();
      float* to = resized_images.mutable_data<float>() + i * out.row();
      const auto sum = [&]<int C>(int64_t channel) {
        rows.clear();
        for (int64_t y = down.begin; y < down.end; ++y) {
          const int64_t row = std::clamp<int64_t>(y, 0, in.height - 1);
          rows.push_back({image + row * in.row() + channel, down.Part(y)});
        }
        SumAreas<C>(rows, across, in.width, in.channels, mean, to + channel);
      };
      int64_t channel = 0;
      for (; channel + 4 <= in.channels; channel += 4) sum.template operator()<4>(channel);
      if (in.channels - channel == 3) {
        sum.template operator()<3>(channel);
      } else {
        for (; channel < in.channels; ++channel) sum.template operator()<1>(channel);
      }
    }
  });
  return OkStatus();
}

}  // namespace penstock::ops
