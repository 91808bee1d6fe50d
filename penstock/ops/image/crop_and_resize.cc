#include "penstock/ops/image/crop_and_resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "penstock/ops/image/image_batch.h"

namespace penstock::ops {
namespace {

// One axis of a crop: which pixels of the image each of its places lies between.
struct CropAxis {
  int64_t pixels;  // of the image
  int64_t places;  // of the crop
  float first;
  float last;
  float step;

  CropAxis(int64_t image, int64_t crop, float begin, float end)
      : pixels(image), places(crop), first(begin), last(end) {
    step = crop > 1 ? (end - begin) * static_cast<float>(image - 1) / static_cast<float>(crop - 1)
                    : 0.0f;
  }
  // The derivative takes the quotient first, which rounds otherwise.
  void TakeQuotientFirst() {
    if (places > 1)
      step = (last - first) * (static_cast<float>(pixels - 1) / static_cast<float>(places - 1));
  }
  float At(int64_t i) const {
    const float extent = static_cast<float>(pixels - 1);
    if (places > 1) return first * extent + static_cast<float>(i) * step;
    return static_cast<float>(0.5 * (first + last) * extent);
  }
};

struct Place {
  bool inside = false;
  int64_t below = 0;
  int64_t above = 0;
  int64_t nearest = 0;
  float part = 0;

  Place(const CropAxis& axis, int64_t i) {
    const float at = axis.At(i);
    inside = at >= 0 && at <= static_cast<float>(axis.pixels - 1);
    if (!inside) return;
    below = static_cast<int64_t>(std::floor(at));
    above = std::min(static_cast<int64_t>(std::ceil(at)), axis.pixels - 1);
    nearest = std::min(static_cast<int64_t>(std::round(at)), axis.pixels - 1);
    part = at - static_cast<float>(below);
  }
};

std::vector<Place> PlacesOf(const CropAxis& axis) {
  std::vector<Place> places;
  places.reserve(static_cast<size_t>(axis.places));
  for (int64_t i = 0; i < axis.places; ++i) places.emplace_back(axis, i);
  return places;
}

Status CheckBoxes(const Shape& boxes, const Shape& box_ind, int64_t* count) {
  TRY(CheckRank(boxes, 2, "boxes"));
  TRY(CheckVector(box_ind, "box_ind"));
  *count = boxes.has_rank() ? boxes[0] : Shape::kUnknownDim;
  if (boxes.has_rank() && boxes[1] >= 0 && boxes[1] != 4)
    return InvalidArgument("boxes must have 4 columns, got shape {}", boxes);
  if (box_ind.has_rank() && box_ind[0] >= 0) {
    if (*count >= 0 && *count != box_ind[0]) {
      return InvalidArgument("boxes and box_ind must be of one length, got {} and {}", *count,
                             box_ind[0]);
    }
    *count = box_ind[0];
  }
  return OkStatus();
}

Status CheckIndices(const Tensor& box_ind, int64_t batch) {
  for (const int32_t index : box_ind.values<int32_t>())
    if (!InRange(index, batch))
      return OutOfRange("box_ind must be in [0, {}), got {}", batch, index);
  return OkStatus();
}

Status CheckPositive(const Shape& shape, std::string_view what) {
  TRY(CheckRank(shape, 4, what));
  if (shape.has_rank() && (shape[1] == 0 || shape[2] == 0))
    return InvalidArgument("{} must have a height and a width, got shape {}", what, shape);
  return OkStatus();
}

Status CheckEqual(int64_t a, int64_t b, std::string_view what) {
  if (a >= 0 && b >= 0 && a != b) return InvalidArgument("{} must be equal: {} vs {}", what, a, b);
  return OkStatus();
}

}  // namespace

Result<Shape> CropAndResize::InferShape(const Shape& image, const Shape& boxes,
                                        const Shape& box_ind, const Integers& crop_size) const {
  TRY(CheckPositive(image, "image"));
  int64_t count = 0;
  TRY(CheckBoxes(boxes, box_ind, &count));
  TRY_ASSIGN(const auto size, HeightAndWidth(crop_size, "crop_size"));
  const int64_t channels = image.has_rank() ? image[3] : Shape::kUnknownDim;
  return Shape::Make(std::array<int64_t, 4>{count, size[0], size[1], channels});
}

void CropAndResize::Gradient(Gradients& g) const {
  const Expr image = g.input(0);
  if (IsFloating(image.dtype())) {
    g.Set(0, g.scope().Add("CropAndResizeGradImage",
                           {g.dy(), g.input(1), g.input(2), Op("Shape", image)},
                           {{"T", image.dtype()}, {"method", method}}));
  }
  g.Set(1, g.scope().Add("CropAndResizeGradBoxes", {g.dy(), image, g.input(1), g.input(2)}));
}

Status CropAndResize::ComputeCpu(CpuContext& context, const Tensor& image, const Tensor& boxes,
                                 const Tensor& box_ind, const Tensor&, Tensor& crops) const {
  const ImageBatch in(image.shape()), out(crops.shape());
  TRY(CheckIndices(box_ind, in.batch));
  for (const float edge : boxes.values<float>())
    if (!std::isfinite(edge)) return InvalidArgument("boxes must be finite, got {}", edge);
  if (crops.num_elements() == 0) return OkStatus();
  TRY_ASSIGN(const Tensor floats, AsFloat(context, image));
  const bool bilinear = method == "bilinear";
  const int64_t channels = in.channels;
  context.parallel()(out.batch, static_cast<double>(out.image()) * 12, [&](int64_t b, int64_t end) {
    for (; b < end; ++b) {
      const float* box = boxes.data<float>() + 4 * b;
      const float* from = floats.data<float>() + box_ind.data<int32_t>()[b] * in.image();
      const CropAxis down(in.height, out.height, box[0], box[2]);
      const auto across = PlacesOf(CropAxis(in.width, out.width, box[1], box[3]));
      float* to = crops.mutable_data<float>() + b * out.image();
      for (int64_t y = 0; y < out.height; ++y) {
        const Place row(down, y);
        const float* top = from + row.below * in.row();
        const float* bottom = from + row.above * in.row();
        const float* nearest = from + row.nearest * in.row();
        for (const Place& x : across) {
          if (!row.inside || !x.inside) {
            std::fill_n(to, channels, extrapolation_value);
          } else if (bilinear) {
            const int64_t left = x.below * channels, right = x.above * channels;
            for (int64_t c = 0; c < channels; ++c) {
              const float above = top[left + c] + (top[right + c] - top[left + c]) * x.part;
              const float below =
                  bottom[left + c] + (bottom[right + c] - bottom[left + c]) * x.part;
              to[c] = above + (below - above) * row.part;
            }
          } else {
            std::copy_n(nearest + x.nearest * channels, channels, to);
          }
          to += channels;
        }
      }
    }
  });
  return OkStatus();
}

Result<Shape> CropAndResizeGradImage::InferShape(const Shape& grads, const Shape& boxes,
                                                 const Shape& box_ind,
                                                 const Integers& image_size) const {
  TRY(CheckPositive(grads, "grads"));
  int64_t count = 0;
  TRY(CheckBoxes(boxes, box_ind, &count));
  TRY(CheckVector(image_size.shape(), "image_size"));
  TRY_ASSIGN(Shape image, image_size.AsShape());
  TRY(CheckPositive(image, "image_size"));
  if (grads.has_rank()) {
    TRY(CheckEqual(grads[0], count, "the numbers of grads and boxes"));
    if (image.has_rank()) TRY(CheckEqual(grads[3], image[3], "the channels of grads and image"));
  }
  return image.has_rank() ? image : Shape::UnknownOfRank(4);
}

template <class T>
Status CropAndResizeGradImage::ComputeCpu(CpuContext& context, const Tensor& grads,
                                          const Tensor& boxes, const Tensor& box_ind, const Tensor&,
                                          Tensor& output) const {
  const ImageBatch image(output.shape()), crop(grads.shape());
  TRY(CheckIndices(box_ind, image.batch));
  const bool bilinear = method == "bilinear";
  const int64_t channels = image.channels;
  const auto add_box = [&](int64_t b, T* to) {
    const float* box = boxes.data<float>() + 4 * b;
    const CropAxis down(image.height, crop.height, box[0], box[2]);
    const auto across = PlacesOf(CropAxis(image.width, crop.width, box[1], box[3]));
    const auto add = [&](int64_t y, int64_t x, int64_t c, float value) {
      T& sum = to[y * image.row() + x * channels + c];
      sum = static_cast<T>(sum + static_cast<T>(value));
    };
    for (int64_t y = 0; y < crop.height; ++y) {
      const Place row(down, y);
      const float* from = grads.data<float>() + b * crop.image() + y * crop.row();
      if (!row.inside) continue;
      for (const Place& x : across) {
        for (int64_t c = 0; x.inside && c < channels; ++c) {
          if (bilinear) {
            const float top = (1 - row.part) * from[c];
            const float bottom = row.part * from[c];
            add(row.below, x.below, c, (1 - x.part) * top);
            add(row.below, x.above, c, x.part * top);
            add(row.above, x.below, c, (1 - x.part) * bottom);
            add(row.above, x.above, c, x.part * bottom);
          } else {
            add(row.nearest, x.nearest, c, from[c]);
          }
        }
        from += channels;
      }
    }
  };
  // Boxes of one image may overlap: its thread adds them in their order.
  const double cost = static_cast<double>(grads.num_elements()) * 20;
  context.parallel()(image.batch, cost, [&](int64_t first, int64_t last) {
    std::fill_n(output.mutable_data<T>() + first * image.image(), (last - first) * image.image(),
                T(0));
    for (int64_t b = 0; b < box_ind.num_elements(); ++b) {
      const int64_t index = box_ind.data<int32_t>()[b];
      if (index >= first && index < last)
        add_box(b, output.mutable_data<T>() + index * image.image());
    }
  });
  return OkStatus();
}

Result<Shape> CropAndResizeGradBoxes::InferShape(const Shape& grads, const Shape& image,
                                                 const Shape& boxes, const Shape& box_ind) const {
  TRY(CheckPositive(grads, "grads"));
  TRY(CheckPositive(image, "image"));
  int64_t count = 0;
  TRY(CheckBoxes(boxes, box_ind, &count));
  if (grads.has_rank()) {
    TRY(CheckEqual(grads[0], count, "the numbers of grads and boxes"));
    if (image.has_rank()) TRY(CheckEqual(grads[3], image[3], "the channels of grads and image"));
  }
  return Shape{count, 4};
}

Status CropAndResizeGradBoxes::ComputeCpu(CpuContext& context, const Tensor& grads,
                                          const Tensor& image, const Tensor& boxes,
                                          const Tensor& box_ind, Tensor& output) const {
  const ImageBatch in(image.shape()), crop(grads.shape());
  TRY(CheckIndices(box_ind, in.batch));
  TRY_ASSIGN(const Tensor floats, AsFloat(context, image));
  const int64_t channels = in.channels;
  // What the place i of an axis owes to the first and to the last edge of its box.
  const auto shares = [](const CropAxis& axis, int64_t i) {
    const float extent = static_cast<float>(axis.pixels - 1);
    const float last = axis.places > 1
                           ? static_cast<float>(i) * (extent / static_cast<float>(axis.places - 1))
                           : 0.5f * extent;
    return std::array<float, 2>{axis.places > 1 ? extent - last : last, last};
  };
  context.parallel()(
      crop.batch, static_cast<double>(crop.image()) * 20, [&](int64_t b, int64_t end) {
        for (; b < end; ++b) {
          const float* box = boxes.data<float>() + 4 * b;
          const float* from = floats.data<float>() + box_ind.data<int32_t>()[b] * in.image();
          CropAxis down(in.height, crop.height, box[0], box[2]);
          CropAxis across(in.width, crop.width, box[1], box[3]);
          down.TakeQuotientFirst();
          across.TakeQuotientFirst();
          const auto columns = PlacesOf(across);
          std::array<float, 4> sums{};
          for (int64_t y = 0; y < crop.height; ++y) {
            const Place row(down, y);
            if (!row.inside) continue;
            const auto [y1, y2] = shares(down, y);
            const float* top = from + row.below * in.row();
            const float* bottom = from + row.above * in.row();
            for (int64_t i = 0; i < crop.width; ++i) {
              const Place& x = columns[i];
              if (!x.inside) continue;
              const auto [x1, x2] = shares(across, i);
              const float* grad =
                  grads.data<float>() + b * crop.image() + y * crop.row() + i * channels;
              const int64_t left = x.below * channels, right = x.above * channels;
              for (int64_t c = 0; c < channels; ++c) {
                const float dy = (1 - x.part) * (bottom[left + c] - top[left + c]) +
                                 x.part * (bottom[right + c] - top[right + c]);
                const float dx = (1 - row.part) * (top[right + c] - top[left + c]) +
                                 row.part * (bottom[right + c] - bottom[left + c]);
                sums[0] += dy * grad[c] * y1;
                sums[1] += dx * grad[c] * x1;
                sums[2] += dy * grad[c] * y2;
                sums[3] += dx * grad[c] * x2;
              }
            }
          }
          std::ranges::copy(sums, output.mutable_data<float>() + 4 * b);
        }
      });
  return OkStatus();
}

void RegisterCropAndResize(Registrar& registrar) {
  registrar.AddAll<CropAndResize, CropAndResizeGradImage, CropAndResizeGradBoxes>();
}

}  // namespace penstock::ops
