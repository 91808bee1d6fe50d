#pragma once

#include <array>
#include <string_view>

#include "penstock/ops/float_copy.h"

// What the ops on batches of images share. A batch is [B batch, H height, W width, C channels].

namespace penstock::ops {

// The extents of a batch of images.
struct ImageBatch {
  int64_t batch = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;

  explicit ImageBatch(const Shape& shape)
      : batch(shape[0]), height(shape[1]), width(shape[2]), channels(shape[3]) {}
  int64_t row() const { return width * channels; }
  int64_t image() const { return height * row(); }
};

// Calls f.operator()<C>() with the number of channels where loops over so few are worth a copy of
// their own, else with 0.
template <class F>
decltype(auto) ForChannels(int64_t channels, F&& f) {
  switch (channels) {
    case 1:
      return f.template operator()<1>();
    case 3:
      return f.template operator()<3>();
    case 4:
      return f.template operator()<4>();
    default:
      return f.template operator()<0>();
  }
}

// A batch of images of which none is empty; a batch of no image is fine.
Status CheckImages(const Shape& images, std::string_view what);
// Height and width from a vector of two numbers, unknown while it is. Both must be positive.
Result<std::array<int64_t, 2>> HeightAndWidth(const Integers& size, std::string_view what);
// The shape of `images` with another height and width.
Result<Shape> WithSize(const Shape& images, std::array<int64_t, 2> size);
// [B, H, W] of one shape and the channels of another; both may be partial.
Result<Shape> BatchLike(const Shape& batch_and_channels, const Shape& height_and_width);
// [height, width] of a batch, as a node.
Expr SizeOfImages(const Expr& images);

}  // namespace penstock::ops
