#include <algorithm>
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

std::vector<Cover> CoversOf(const ResizeAxis& axis) {
  std::vector<Cover> covers;
  covers.reserve(static_cast<size_t>(axis.to));
  for (int64_t i = 0; i < axis.to; ++i) covers.emplace_back(i, axis.scale);
  return covers;
}

// The sum of one channel of a row over the pixels that `cover` names.
float SumAcross(const float* row, const Cover& cover, int64_t width, int64_t channels) {
  const auto at = [&](int64_t x) { return row[std::clamp<int64_t>(x, 0, width - 1) * channels]; };
  float sum = at(cover.begin) * cover.Part(cover.begin);
  if (cover.begin + 1 == cover.end) return sum;
  for (int64_t x = cover.begin + 1; x < cover.end - 1; ++x) sum += at(x);
  return sum + at(cover.end - 1) * cover.Part(cover.end - 1);
}

}  // namespace

Status ResizeArea::ComputeCpu(CpuContext& context, const Tensor& images, const Tensor&,
                              Tensor& resized_images) const {
  if (resized_images.num_elements() == 0) return OkStatus();
  const ImageBatch in(images.shape()), out(resized_images.shape());
  TRY_ASSIGN(const Tensor floats, AsFloat(context, images));
  const ResizeAxis height(in.height, out.height, align_corners, false);
  const ResizeAxis width(in.width, out.width, align_corners, false);
  const std::vector<Cover> across = CoversOf(width);
  const float mean = static_cast<float>(1.0 / (height.scale * width.scale));
  const double per_row = static_cast<double>(in.row() * (height.scale + 1) + out.row());
  context.parallel()(out.batch * out.height, per_row * 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Cover down(i % out.height, height.scale);
      const float* image = floats.data<float>() + i / out.height * in.image();
      float* to = resized_images.mutable_data<float>() + i * out.row();
      for (int64_t x = 0; x < out.width; ++x) {
        for (int64_t c = 0; c < out.channels; ++c) {
          float sum = 0;
          for (int64_t y = down.begin; y < down.end; ++y) {
            const float* row = image + std::clamp<int64_t>(y, 0, in.height - 1) * in.row() + c;
            sum += SumAcross(row, across[x], in.width, in.channels) * down.Part(y);
          }
          *to++ = sum * mean;
        }
      }
    }
  });
  return OkStatus();
}

}  // namespace penstock::ops
