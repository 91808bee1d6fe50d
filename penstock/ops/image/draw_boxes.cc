#include "penstock/ops/image/draw_boxes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/image/image_batch.h"

namespace penstock::ops {
namespace {

// yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia
constexpr float kColours[] = {1, 1, 0,    1, 0,    0, 1,    1,    1, 0, 0,    1, 0, 1,
                              0, 1, 0.5f, 0, 0.5f, 1, 0.5f, 0.5f, 0, 1, 0.5f, 0, 0, 1,
                              0, 0, 0.5f, 1, 0,    1, 1,    1,    1, 0, 1,    1};

// Rows of `stride` numbers, of which the first are a colour.
struct Palette {
  std::span<const float> numbers;
  int64_t stride;

  int64_t size() const { return static_cast<int64_t>(numbers.size()) / stride; }
  const float* Colour(int64_t i) const { return numbers.data() + i % size() * stride; }
};

// What does not fit into an integer lies before everything.
int64_t PixelOf(float part, int64_t pixels) {
  const float place = part * static_cast<float>(pixels - 1);
  return std::abs(place) < 0x1p62f ? static_cast<int64_t>(place)
                                   : std::numeric_limits<int64_t>::min();
}

template <class T>
void DrawBox(const float* box, const float* colour, const ImageBatch& in, T* image) {
  const int64_t top = PixelOf(box[0], in.height), left = PixelOf(box[1], in.width);
  const int64_t bottom = PixelOf(box[2], in.height), right = PixelOf(box[3], in.width);
  if (top > bottom || left > right) return;
  if (top >= in.height || bottom < 0 || left >= in.width || right < 0) return;
  const auto draw = [&](int64_t y0, int64_t y1, int64_t x0, int64_t x1) {
    for (int64_t y = std::max<int64_t>(y0, 0); y <= std::min(y1, in.height - 1); ++y) {
      for (int64_t x = std::max<int64_t>(x0, 0); x <= std::min(x1, in.width - 1); ++x) {
        T* pixel = image + y * in.row() + x * in.channels;
        for (int64_t c = 0; c < in.channels; ++c) pixel[c] = T(colour[c]);
      }
    }
  };
  draw(top, top, left, right);
  draw(bottom, bottom, left, right);
  draw(top, bottom, left, left);
  draw(top, bottom, right, right);
}

Status Draw(const Tensor& images, const Tensor& boxes, const Palette& palette, Tensor& output) {
  if (output.num_elements() == 0) return OkStatus();
  const ImageBatch in(images.shape());
  const int64_t count = boxes.shape()[1];
  std::memcpy(output.mutable_raw(), images.raw(), images.bytes());
  return ForDType(images.dtype(), Types<float, half>(), [&]<class T>() {
    for (int64_t i = 0; i < in.batch * count; ++i) {
      const float* colour = palette.Colour(i % count);
      // A grey image has white lines in the colours that are ours.
      const float white = 1;
      if (in.channels == 1 && palette.numbers.data() == kColours) colour = &white;
      DrawBox(boxes.data<float>() + 4 * i, colour, in,
              output.mutable_data<T>() + i / count * in.image());
    }
    return OkStatus();
  });
}

Result<Shape> InferDrawn(const Shape& images, const Shape& boxes) {
  TRY(CheckRank(images, 4, "images"));
  TRY(CheckRank(boxes, 3, "boxes"));
  if (images.has_rank()) {
    const int64_t channels = images[3];
    if (channels >= 0 && channels != 1 && channels != 3 && channels != 4)
      return InvalidArgument("images must have 1, 3 or 4 channels, got {}", channels);
    if (boxes.has_rank() && images[0] >= 0 && boxes[0] >= 0 && images[0] != boxes[0])
      return InvalidArgument("there must be boxes for each image: {} vs {}", images[0], boxes[0]);
  }
  if (boxes.has_rank() && boxes[2] >= 0 && boxes[2] != 4)
    return InvalidArgument("boxes must have 4 corners, got shape {}", boxes);
  return images.has_rank() ? images : Shape::UnknownOfRank(4);
}

}  // namespace

Result<Shape> DrawBoundingBoxes::InferShape(const Shape& images, const Shape& boxes) const {
  return InferDrawn(images, boxes);
}
Status DrawBoundingBoxes::ComputeCpu(CpuContext&, const Tensor& images, const Tensor& boxes,
                                     Tensor& output) const {
  return Draw(images, boxes, {kColours, 4}, output);
}

Result<Shape> DrawBoundingBoxesV2::InferShape(const Shape& images, const Shape& boxes,
                                              const Shape& colors) const {
  TRY(CheckRank(colors, 2, "colors"));
  if (colors.has_rank() && images.has_rank() && images.rank() == 4 && colors[1] >= 0 &&
      images[3] > colors[1]) {
    return InvalidArgument("colors must have at least {} channels, got shape {}", images[3],
                           colors);
  }
  return InferDrawn(images, boxes);
}
Status DrawBoundingBoxesV2::ComputeCpu(CpuContext&, const Tensor& images, const Tensor& boxes,
                                       const Tensor& colors, Tensor& output) const {
  const bool ours = colors.num_elements() == 0;
  return Draw(images, boxes,
              ours ? Palette{kColours, 4} : Palette{colors.values<float>(), colors.shape()[1]},
              output);
}

void RegisterDrawBoxes(Registrar& registrar) {
  registrar.AddAll<DrawBoundingBoxes, DrawBoundingBoxesV2>();
}

}  // namespace penstock::ops
