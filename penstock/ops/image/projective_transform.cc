#include "penstock/ops/image/projective_transform.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "penstock/ops/image/image_batch.h"

namespace penstock::ops {
namespace {

// Where a place outside of `pixels` pixels is read instead; one that stays outside is filled.
using FillMode = float (*)(float place, int64_t pixels);

float Clamp(float place, int64_t pixels) {
  return std::clamp(place, 0.0f, static_cast<float>(pixels - 1));
}
// Whole numbers of periods; a place too far off for the quotient to mean anything counts none.
int64_t Periods(float place, int64_t period) {
  const float count = place / static_cast<float>(period);
  return std::abs(count) < 0x1p31f ? static_cast<int64_t>(count) : 0;
}

float Constant(float place, int64_t) { return place; }
// [abcd] as [dcba|abcd|dcba].
float Reflect(float place, int64_t pixels) {
  const int64_t period = 2 * pixels;
  if (pixels <= 1) return Clamp(place, pixels);
  if (place < 0) {
    place = static_cast<float>(period * Periods(-place, period)) + place;
    place = place < static_cast<float>(-pixels) ? place + static_cast<float>(period) : -place - 1;
  } else if (place > static_cast<float>(pixels - 1)) {
    place -= static_cast<float>(period * Periods(place, period));
    if (place >= static_cast<float>(pixels)) place = static_cast<float>(period) - place - 1;
  }
  return Clamp(place, pixels);
}
// [abcd] as [abcd|abcd|abcd].
float Wrap(float place, int64_t pixels) {
  if (pixels <= 1) return Clamp(place, pixels);
  if (place < 0) {
    place += static_cast<float>(pixels * (Periods(-place, pixels - 1) + 1));
  } else if (place > static_cast<float>(pixels - 1)) {
    place -= static_cast<float>(pixels * Periods(place, pixels - 1));
  }
  return Clamp(place, pixels);
}

FillMode FindFillMode(std::string_view name) {
  if (name == "CONSTANT") return &Constant;
  if (name == "REFLECT") return &Reflect;
  if (name == "WRAP") return &Wrap;
  if (name == "NEAREST") return &Clamp;
  return nullptr;
}

Status CheckModes(const std::string& interpolation, const std::string& fill_mode) {
  if (interpolation != "NEAREST" && interpolation != "BILINEAR")
    return InvalidArgument("interpolation must be NEAREST or BILINEAR, got {}", interpolation);
  if (FindFillMode(fill_mode) == nullptr) {
    return InvalidArgument("fill_mode must be CONSTANT, REFLECT, WRAP or NEAREST, got {}",
                           fill_mode);
  }
  return OkStatus();
}

Result<Shape> InferTransformed(const Shape& images, const Shape& transforms,
                               const Integers& output_shape) {
  TRY(CheckRank(images, 4, "images"));
  TRY(CheckRank(transforms, 2, "transforms"));
  if (transforms.has_rank()) {
    const int64_t batch = images.has_rank() ? images[0] : Shape::kUnknownDim;
    const int64_t rows = transforms[0];
    if ((transforms[1] >= 0 && transforms[1] != 8) ||
        (rows >= 0 && rows != 1 && batch >= 0 && rows != batch)) {
      return InvalidArgument("transforms must be [1, 8] or [{}, 8], got {}", batch, transforms);
    }
  }
  TRY_ASSIGN(const auto size, HeightAndWidth(output_shape, "output_shape"));
  return WithSize(images, size);
}

// A place in an image, unless it is at infinity.
struct Point {
  float x = 0;
  float y = 0;
  bool finite = false;
};

// The pixel at whole numbers (y, x), or null where there is none.
template <class T>
const T* PixelAt(const T* image, const ImageBatch& in, int64_t size, float y, float x) {
  if (!(y >= 0 && y < static_cast<float>(in.height) && x >= 0 && x < static_cast<float>(in.width)))
    return nullptr;
  return image + (static_cast<int64_t>(y) * in.width + static_cast<int64_t>(x)) * size;
}

// The pixels of `images` that those of one result are read at.
class Projection {
 public:
  Projection(const ImageBatch& in, const Tensor& transforms, FillMode fill)
      : in_(in), transforms_(transforms), fill_(fill) {}

  Point At(int64_t batch, int64_t y, int64_t x) const {
    const float* t = transforms_.data<float>() + (transforms_.shape()[0] == 1 ? 0 : 8 * batch);
    const float column = static_cast<float>(x), row = static_cast<float>(y);
    const float k = t[6] * column + t[7] * row + 1.0f;
    if (k == 0) return {};
    Point point;
    point.x = fill_((t[0] * column + t[1] * row + t[2]) / k, in_.width);
    point.y = fill_((t[3] * column + t[4] * row + t[5]) / k, in_.height);
    point.finite = true;
    return point;
  }

 private:
  const ImageBatch in_;
  const Tensor& transforms_;
  const FillMode fill_;
};

void ReadNearest(CpuContext& context, const Tensor& images, const Projection& projection,
                 const Tensor& fill, Tensor& out_images) {
  const ImageBatch in(images.shape()), out(out_images.shape());
  const size_t bytes = SizeOf(images.dtype()) * static_cast<size_t>(in.channels);
  std::vector<std::byte> outside(bytes);
  for (size_t at = 0; at < bytes; at += SizeOf(fill.dtype()))
    std::memcpy(outside.data() + at, fill.raw(), SizeOf(fill.dtype()));
  const int64_t size = static_cast<int64_t>(bytes);
  const auto* from = static_cast<const std::byte*>(images.raw());
  auto* to = static_cast<std::byte*>(out_images.mutable_raw());
  context.parallel()(
      out.batch * out.height, static_cast<double>(out.row()) * 10, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * out.width; i < end * out.width; ++i) {
          const int64_t row = i / out.width, b = row / out.height;
          const Point p = projection.At(b, row % out.height, i % out.width);
          const std::byte* pixel = p.finite ? PixelAt(from + b * in.height * in.width * size, in,
                                                      size, std::round(p.y), std::round(p.x))
                                            : nullptr;
          if (pixel == nullptr) pixel = outside.data();
          std::memcpy(to + i * bytes, pixel, bytes);
        }
      });
}

void ReadBilinear(CpuContext& context, const Tensor& images, const Projection& projection,
                  float fill, Tensor& out_images) {
  const ImageBatch in(images.shape()), out(out_images.shape());
  const std::vector<float> outside(static_cast<size_t>(in.channels), fill);
  const auto read_pixel = [&](int64_t b, const Point& p, float* to) {
    const float y0 = std::floor(p.y), y1 = y0 + 1;
    const float x0 = std::floor(p.x), x1 = x0 + 1;
    const float* image = images.data<float>() + b * in.image();
    const auto corner = [&](float y, float x) {
      const float* pixel = PixelAt(image, in, in.channels, y, x);
      return pixel == nullptr ? outside.data() : pixel;
    };
    const float *a = corner(y0, x0), *a1 = corner(y0, x1);
    const float *b0 = corner(y1, x0), *b1 = corner(y1, x1);
    for (int64_t c = 0; c < in.channels; ++c) {
      const float top = (x1 - p.x) * a[c] + (p.x - x0) * a1[c];
      const float bottom = (x1 - p.x) * b0[c] + (p.x - x0) * b1[c];
      to[c] = (y1 - p.y) * top + (p.y - y0) * bottom;
    }
  };
  context.parallel()(out.batch * out.height, static_cast<double>(out.row()) * 20,
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin * out.width; i < end * out.width; ++i) {
                         const int64_t row = i / out.width, b = row / out.height;
                         const Point p = projection.At(b, row % out.height, i % out.width);
                         float* to = out_images.mutable_data<float>() + i * out.channels;
                         if (p.finite) {
                           read_pixel(b, p, to);
                         } else {
                           std::fill_n(to, out.channels, fill);
                         }
                       }
                     });
}

// `fill` is a scalar of float.
Status Transform(CpuContext& context, const Tensor& images, const Tensor& transforms,
                 const Tensor& fill, const std::string& interpolation, const std::string& fill_mode,
                 Tensor& out) {
  if (out.num_elements() == 0) return OkStatus();
  const ImageBatch in(images.shape());
  // A place in an image without pixels is outside of it.
  const FillMode mode = in.height == 0 || in.width == 0 ? &Constant : FindFillMode(fill_mode);
  const Projection projection(in, transforms, mode);
  TRY_ASSIGN(Tensor typed_fill, context.Allocate(images.dtype(), Shape()));
  StoreFloats(context, fill, typed_fill);
  if (interpolation == "NEAREST") {
    ReadNearest(context, images, projection, typed_fill, out);
    return OkStatus();
  }
  TRY_ASSIGN(const Tensor floats, AsFloat(context, images));
  TRY_ASSIGN(const Tensor float_fill, AsFloat(context, typed_fill));
  Tensor result = out;
  if (out.dtype() != DType::kFloat) {
    TRY_ASSIGN(result, context.Allocate(DType::kFloat, out.shape()));
  }
  ReadBilinear(context, floats, projection, float_fill.scalar<float>(), result);
  if (out.dtype() != DType::kFloat) StoreFloats(context, result, out);
  return OkStatus();
}

// The transforms that undo `transforms`: the adjugate matrix will do, since what is projected does
// not change with its scale.
Expr Inverse(const Scope& scope, const Expr& transforms) {
  const Expr axis = scope.Constant(Tensor::Scalar<int32_t>(1));
  const Expr columns = scope.Add("Split", {axis, transforms}, {{"num_split", 8}});
  std::array<Expr, 8> t;
  for (int i = 0; i < 8; ++i) t[i] = columns.Output(i);
  const std::array<Expr, 8> adjugate{t[4] - t[5] * t[7],        t[2] * t[7] - t[1],
                                     t[1] * t[5] - t[2] * t[4], t[5] * t[6] - t[3],
                                     t[0] - t[2] * t[6],        t[2] * t[3] - t[0] * t[5],
                                     t[3] * t[7] - t[4] * t[6], t[1] * t[6] - t[0] * t[7]};
  std::vector<Expr> parts(adjugate.begin(), adjugate.end());
  parts.push_back(axis);
  return scope.Add("ConcatV2", parts, {{"N", 8}}) / (t[0] * t[4] - t[1] * t[3]);
}

// What stock TensorFlow takes for the derivative: the inverse transform of what comes back.
Expr TransformBack(const Gradients& g, const std::string& interpolation,
                   const std::string& fill_mode) {
  return Op("ImageProjectiveTransformV2", g.dy(), Inverse(g.scope(), g.input(1)),
            SizeOfImages(g.input(0)), {{"interpolation", interpolation}, {"fill_mode", fill_mode}});
}

}  // namespace

Status ImageProjectiveTransformV2::CheckAttrs() const {
  return CheckModes(interpolation, fill_mode);
}
Result<Shape> ImageProjectiveTransformV2::InferShape(const Shape& images, const Shape& transforms,
                                                     const Integers& output_shape) const {
  return InferTransformed(images, transforms, output_shape);
}
void ImageProjectiveTransformV2::Gradient(Gradients& g) const {
  g.Set(0, TransformBack(g, interpolation, fill_mode));
}
Status ImageProjectiveTransformV2::ComputeCpu(CpuContext& context, const Tensor& images,
                                              const Tensor& transforms, const Tensor&,
                                              Tensor& transformed_images) const {
  return Transform(context, images, transforms, Tensor::Scalar(0.0f), interpolation, fill_mode,
                   transformed_images);
}

Status ImageProjectiveTransformV3::CheckAttrs() const {
  return CheckModes(interpolation, fill_mode);
}
Result<Shape> ImageProjectiveTransformV3::InferShape(const Shape& images, const Shape& transforms,
                                                     const Integers& output_shape,
                                                     const Shape& fill_value) const {
  TRY(CheckScalar(fill_value, "fill_value"));
  return InferTransformed(images, transforms, output_shape);
}
void ImageProjectiveTransformV3::Gradient(Gradients& g) const {
  g.Set(0, TransformBack(g, interpolation, fill_mode));
}
Status ImageProjectiveTransformV3::ComputeCpu(CpuContext& context, const Tensor& images,
                                              const Tensor& transforms, const Tensor&,
                                              const Tensor& fill_value,
                                              Tensor& transformed_images) const {
  return Transform(context, images, transforms, fill_value, interpolation, fill_mode,
                   transformed_images);
}

void RegisterProjectiveTransform(Registrar& registrar) {
  registrar.AddAll<ImageProjectiveTransformV2, ImageProjectiveTransformV3>();
}

}  // namespace penstock::ops
