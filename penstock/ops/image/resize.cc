#include "penstock/ops/image/resize.h"

#include "penstock/ops/image/image_batch.h"

// Shape rules and derivatives; the arithmetic is in resize_float.cc, resize_nearest.cc and
// resize_area.cc.

namespace penstock::ops {
namespace {

Status CheckPlacement(bool align_corners, bool half_pixel_centers) {
  if (align_corners && half_pixel_centers)
    return InvalidArgument("align_corners and half_pixel_centers exclude one another");
  return OkStatus();
}

Result<Shape> InferResized(const Shape& images, const Integers& size) {
  TRY(CheckImages(images, "images"));
  TRY_ASSIGN(const auto height_and_width, HeightAndWidth(size, "size"));
  return WithSize(images, height_and_width);
}

template <class Op>
AttrMap Placement(const Op& op) {
  return {{"align_corners", op.align_corners}, {"half_pixel_centers", op.half_pixel_centers}};
}

template <class... Ts>
bool IsOneOf(DType dtype, TypeVar<"T", Ts...>) {
  return ((dtype == kDTypeOf<Ts>) || ...);
}

}  // namespace

template <class Method>
Status ResizeToFloat<Method>::CheckAttrs() const {
  return CheckPlacement(align_corners, half_pixel_centers);
}
template <class Method>
Result<Shape> ResizeToFloat<Method>::InferShape(const Shape& images, const Integers& size) const {
  return InferResized(images, size);
}
template <class Method>
void ResizeToFloat<Method>::Gradient(Gradients& g) const {
  if (!IsOneOf(g.input(0).dtype(), typename Method::template GradientType<"T">())) return;
  g.Set(0, Op(Method::kGradientName, g.dy(), g.input(0), Placement(*this)));
}

template <class Method>
Status ResizeFromFloatGrad<Method>::CheckAttrs() const {
  return CheckPlacement(align_corners, half_pixel_centers);
}
template <class Method>
Result<Shape> ResizeFromFloatGrad<Method>::InferShape(const Shape& grads,
                                                      const Shape& original_image) const {
  TRY(CheckRank(grads, 4, "grads"));
  TRY(CheckRank(original_image, 4, "original_image"));
  for (const Shape* shape : {&grads, &original_image}) {
    if (shape->has_rank() && ((*shape)[1] == 0 || (*shape)[2] == 0))
      return InvalidArgument("heights and widths must be positive, got shape {}", *shape);
  }
  return BatchLike(grads, original_image);
}
template <class Method>
void ResizeFromFloatGrad<Method>::Gradient(Gradients& g) const {
  g.Set(0, Op(Method::kName, g.dy(), SizeOfImages(g.input(0)), Placement(*this)));
}

Status ResizeNearestNeighbor::CheckAttrs() const {
  return CheckPlacement(align_corners, half_pixel_centers);
}
Result<Shape> ResizeNearestNeighbor::InferShape(const Shape& images, const Integers& size) const {
  return InferResized(images, size);
}
void ResizeNearestNeighbor::Gradient(Gradients& g) const {
  g.Set(0, Op("ResizeNearestNeighborGrad", g.dy(), SizeOfImages(g.input(0)), Placement(*this)));
}

Status ResizeNearestNeighborGrad::CheckAttrs() const {
  return CheckPlacement(align_corners, half_pixel_centers);
}
Result<Shape> ResizeNearestNeighborGrad::InferShape(const Shape& grads,
                                                    const Integers& size) const {
  TRY(CheckRank(grads, 4, "grads"));
  TRY_ASSIGN(const auto height_and_width, HeightAndWidth(size, "size"));
  return WithSize(grads, height_and_width);
}
void ResizeNearestNeighborGrad::Gradient(Gradients& g) const {
  g.Set(0, Op("ResizeNearestNeighbor", g.dy(), SizeOfImages(g.input(0)), Placement(*this)));
}

Result<Shape> ResizeArea::InferShape(const Shape& images, const Integers& size) const {
  return InferResized(images, size);
}

void RegisterResize(Registrar& registrar) {
  registrar.AddAll<ResizeBilinear, ResizeBilinearGrad, ResizeBicubic, ResizeBicubicGrad,
                   ResizeNearestNeighbor, ResizeNearestNeighborGrad, ResizeArea>();
}

}  // namespace penstock::ops
