#include "penstock/ops/image/image_batch.h"

#include <limits>

namespace penstock::ops {

Status CheckImages(const Shape& images, std::string_view what) {
  TRY(CheckRank(images, 4, what));
  if (!images.has_rank()) return OkStatus();
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  for (int axis = 1; axis < 4; ++axis) {
    if (images[axis] == 0 || images[axis] > kMax) {
      return InvalidArgument("{} must have heights, widths and channels in [1, {}], got shape {}",
                             what, kMax, images);
    }
  }
  return OkStatus();
}

Result<std::array<int64_t, 2>> HeightAndWidth(const Integers& size, std::string_view what) {
  TRY(CheckVector(size.shape(), what));
  if (size.shape().has_rank() && size.shape()[0] >= 0 && size.shape()[0] != 2)
    return InvalidArgument("{} must have 2 elements, got {}", what, size.shape()[0]);
  if (!size.known()) return std::array<int64_t, 2>{Shape::kUnknownDim, Shape::kUnknownDim};
  if (size[0] <= 0 || size[1] <= 0)
    return InvalidArgument("{} must be positive, got {} and {}", what, size[0], size[1]);
  return std::array<int64_t, 2>{size[0], size[1]};
}

Result<Shape> WithSize(const Shape& images, std::array<int64_t, 2> size) {
  const bool ranked = images.has_rank();
  return Shape::Make(std::array<int64_t, 4>{ranked ? images[0] : Shape::kUnknownDim, size[0],
                                            size[1], ranked ? images[3] : Shape::kUnknownDim});
}

Result<Shape> BatchLike(const Shape& batch_and_channels, const Shape& height_and_width) {
  if (!height_and_width.has_rank())
    return WithSize(batch_and_channels, {Shape::kUnknownDim, Shape::kUnknownDim});
  return WithSize(batch_and_channels, {height_and_width[1], height_and_width[2]});
}

Expr SizeOfImages(const Expr& images) {
  const Scope& scope = images.scope();
  const Shape& shape = images.shape();
  if (shape.has_rank() && shape[1] >= 0 && shape[2] >= 0) {
    return scope.Constant(Tensor::FromValues<int32_t>(
        {2}, {static_cast<int32_t>(shape[1]), static_cast<int32_t>(shape[2])}));
  }
  return Op("Slice", Op("Shape", images), scope.Constant(Tensor::FromValues<int32_t>({1}, {1})),
            scope.Constant(Tensor::FromValues<int32_t>({1}, {2})));
}

}  // namespace penstock::ops
