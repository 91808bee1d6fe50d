#include "penstock/ops/image/distorted_box.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "penstock/ops/dtype_switch.h"

namespace penstock::ops {
namespace {

using kernels::Philox;
using kernels::PhiloxWords;

// In pixels.
struct Rectangle {
  int64_t left = 0;
  int64_t top = 0;
  int64_t right = 0;
  int64_t bottom = 0;

  float Area() const { return static_cast<float>((right - left) * (bottom - top)); }
  Rectangle Within(const Rectangle& other) const {
    const Rectangle both{std::max(left, other.left), std::max(top, other.top),
                         std::min(right, other.right), std::min(bottom, other.bottom)};
    return both.left > both.right || both.top > both.bottom ? Rectangle() : both;
  }
};

// To the nearest, ties to even; what is no int32 is the largest.
int64_t Round(float value) {
  constexpr float kLimit = 0x1p31f;
  return std::abs(value) < kLimit ? std::lrintf(value) : std::numeric_limits<int32_t>::max();
}

// Numbers are drawn and rounded in the order and the precision of stock TensorFlow.
class BoxSampler {
 public:
  BoxSampler(const DistortedBoxAttrs& attrs, int64_t width, int64_t height, const Philox& stream)
      : attrs_(attrs), width_(width), height_(height), words_(stream) {}

  Rectangle Sample(const std::vector<Rectangle>& objects, float covered) {
    const float least = attrs_.aspect_ratio_range[0], most = attrs_.aspect_ratio_range[1];
    for (int64_t i = 0; i < attrs_.max_attempts; ++i) {
      const float aspect = words_.NextFloat() * (most - least) + least;
      const std::optional<Rectangle> crop = Crop(aspect);
      if (crop && Covers(*crop, objects, covered)) return *crop;
    }
    return {0, 0, width_, height_};
  }

 private:
  static bool Covers(const Rectangle& crop, const std::vector<Rectangle>& objects, float covered) {
    if (crop.Area() < 1) return false;
    return std::ranges::any_of(objects, [&](const Rectangle& object) {
      return object.Area() >= 1 && crop.Within(object).Area() / object.Area() >= covered;
    });
  }

  int64_t Below(int64_t n) { return words_.Below(static_cast<uint32_t>(n)); }

  // A place for a rectangle of this aspect, whose height is drawn from what the areas allow.
  std::optional<Rectangle> Crop(float aspect) {
    const float least_part = attrs_.area_range[0], most_part = attrs_.area_range[1];
    if (aspect <= 0 || width_ <= 0 || height_ <= 0 || least_part > most_part) return std::nullopt;
    const float w = static_cast<float>(width_), h = static_cast<float>(height_);
    const float least = least_part * w * h, most = most_part * w * h;
    const auto width_of = [&](int64_t rows) { return Round(static_cast<float>(rows) * aspect); };
    int64_t rows = Round(std::sqrt(least / aspect));
    int64_t most_rows = Round(std::sqrt(most / aspect));
    if (width_of(most_rows) > width_) {
      constexpr float kSlack = 0.0000001f;
      most_rows = static_cast<int64_t>(
          std::min((static_cast<double>(width_) + 0.5 - kSlack) / aspect, 0x1p31));
      if (width_of(most_rows) > width_) --most_rows;
    }
    most_rows = std::min(most_rows, height_);
    rows = std::min(rows, most_rows);
    if (rows < most_rows) rows += Below(most_rows - rows + 1);
    int64_t columns = width_of(rows);
    // Rounding may have led just outside of the areas: first one row more, then one less.
    float area = static_cast<float>(columns * rows);
    for (const int64_t step : {1, -1}) {
      if (step > 0 ? area >= least : area <= most) continue;
      rows += step;
      columns = width_of(rows);
      area = static_cast<float>(columns * rows);
    }
    if (area < least || area > most || columns > width_ || rows > height_ || columns <= 0 ||
        rows <= 0) {
      return std::nullopt;
    }
    const int64_t top = rows < height_ ? Below(height_ - rows) : 0;
    const int64_t left = columns < width_ ? Below(width_ - columns) : 0;
    return Rectangle{left, top, left + columns, top + rows};
  }

  const DistortedBoxAttrs& attrs_;
  const int64_t width_;
  const int64_t height_;
  PhiloxWords words_;
};

Status CheckCovered(float covered) {
  if (covered >= 0) return OkStatus();
  return InvalidArgument("min_object_covered must not be negative, got {}", covered);
}

Result<std::vector<Rectangle>> ObjectsIn(const Tensor& boxes, int64_t width, int64_t height) {
  std::vector<Rectangle> objects;
  const std::span<const float> edges = boxes.values<float>();
  for (const float edge : edges)
    if (!(edge >= 0 && edge <= 1))
      return InvalidArgument("bounding_boxes must be in [0, 1], got {}", edge);
  const float w = static_cast<float>(width), h = static_cast<float>(height);
  for (size_t i = 0; i < edges.size(); i += 4) {
    objects.push_back({static_cast<int64_t>(edges[i + 1] * w), static_cast<int64_t>(edges[i] * h),
                       static_cast<int64_t>(edges[i + 3] * w),
                       static_cast<int64_t>(edges[i + 2] * h)});
  }
  return objects;
}

// Draws from `stream` and writes outputs 0 to 2.
Status SampleBox(CpuContext& context, const DistortedBoxAttrs& attrs, float covered,
                 const Philox& stream) {
  TRY(CheckCovered(covered));
  const Tensor& image_size = context.input(0);
  using Sizes = Types<uint8_t, int8_t, int16_t, int32_t, int64_t>;
  return ForDType(image_size.dtype(), Sizes(), [&]<class T>() -> Status {
    const int64_t height = image_size.data<T>()[0], width = image_size.data<T>()[1];
    constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
    if (!InRange(height, kMax) || !InRange(width, kMax)) {
      return InvalidArgument("image_size must be in [0, {}), got {} and {}", kMax, height, width);
    }
    TRY_ASSIGN(std::vector<Rectangle> objects, ObjectsIn(context.input(1), width, height));
    if (objects.empty()) {
      if (!attrs.use_image_if_no_bounding_boxes) {
        return InvalidArgument(
            "bounding_boxes must not be empty without use_image_if_no_bounding_boxes, got shape {}",
            context.input(1).shape());
      }
      objects.push_back({0, 0, width, height});
    }
    const Rectangle box = BoxSampler(attrs, width, height, stream).Sample(objects, covered);
    const std::array<int64_t, 3> begin{box.top, box.left, 0};
    const std::array<int64_t, 3> size{box.bottom - box.top, box.right - box.left, -1};
    const float w = static_cast<float>(width), h = static_cast<float>(height);
    const std::array<float, 4> parts{
        static_cast<float>(box.top) / h, static_cast<float>(box.left) / w,
        static_cast<float>(box.bottom) / h, static_cast<float>(box.right) / w};
    for (size_t i = 0; i < 3; ++i) {
      context.output(0).mutable_data<T>()[i] = static_cast<T>(begin[i]);
      context.output(1).mutable_data<T>()[i] = static_cast<T>(size[i]);
    }
    std::ranges::copy(parts, context.output(2).mutable_data<float>());
    return OkStatus();
  });
}

Result<std::array<Shape, 3>> InferBox(const Shape& image_size, const Shape& bounding_boxes) {
  TRY(CheckVector(image_size, "image_size"));
  if (image_size.has_rank() && image_size[0] >= 0 && image_size[0] != 3)
    return InvalidArgument("image_size must have 3 elements, got {}", image_size[0]);
  TRY(CheckRank(bounding_boxes, 3, "bounding_boxes"));
  if (bounding_boxes.has_rank() && bounding_boxes[2] >= 0 && bounding_boxes[2] != 4)
    return InvalidArgument("bounding_boxes must have 4 edges, got shape {}", bounding_boxes);
  return std::array<Shape, 3>{Shape{3}, Shape{3}, Shape{1, 1, 4}};
}

// What an attempt may take of the stream.
constexpr uint64_t kWordsPerAttempt = 4;

}  // namespace

Status DistortedBoxAttrs::CheckAttrs() const {
  for (const std::vector<float>* range : {&aspect_ratio_range, &area_range}) {
    if (range->size() != 2 || !((*range)[0] > 0 && (*range)[1] > 0))
      return InvalidArgument("aspect_ratio_range and area_range must be two positive numbers");
  }
  if (!(area_range[0] <= 1 && area_range[1] <= 1)) {
    return InvalidArgument("area_range must be at most 1, got {} and {}", area_range[0],
                           area_range[1]);
  }
  if (max_attempts <= 0 || max_attempts > std::numeric_limits<int32_t>::max())
    return InvalidArgument("max_attempts must be in [1, 2^31), got {}", max_attempts);
  return OkStatus();
}

Result<std::array<Shape, 3>> SampleDistortedBoundingBox::InferShape(
    const Shape& image_size, const Shape& bounding_boxes) const {
  TRY(CheckCovered(min_object_covered));
  return InferBox(image_size, bounding_boxes);
}
Status SampleDistortedBoundingBox::Draw(CpuContext& context, NodeStream& node) const {
  const uint64_t words = static_cast<uint64_t>(max_attempts) * kWordsPerAttempt;
  TRY_ASSIGN(const Philox stream, node.ReserveWords(context, words));
  return SampleBox(context, *this, min_object_covered, stream);
}

Result<std::array<Shape, 3>> SampleDistortedBoundingBoxV2::InferShape(
    const Shape& image_size, const Shape& bounding_boxes, const Shape& min_object_covered) const {
  TRY(CheckScalar(min_object_covered, "min_object_covered"));
  return InferBox(image_size, bounding_boxes);
}
Status SampleDistortedBoundingBoxV2::Draw(CpuContext& context, NodeStream& node) const {
  const uint64_t words = static_cast<uint64_t>(max_attempts) * kWordsPerAttempt;
  TRY_ASSIGN(const Philox stream, node.ReserveWords(context, words));
  return SampleBox(context, *this, context.input(2).scalar<float>(), stream);
}

Result<std::array<Shape, 3>> StatelessSampleDistortedBoundingBox::InferShape(
    const Shape& image_size, const Shape& bounding_boxes, const Shape& min_object_covered,
    const Shape& seed) const {
  TRY(CheckScalar(min_object_covered, "min_object_covered"));
  TRY(CheckSeed(seed));
  return InferBox(image_size, bounding_boxes);
}
Status StatelessSampleDistortedBoundingBox::ComputeCpu(CpuContext& context, const Tensor&,
                                                       const Tensor&,
                                                       const Tensor& min_object_covered,
                                                       const Tensor& seed, Tensor&, Tensor&,
                                                       Tensor&) const {
  return SampleBox(context, *this, min_object_covered.scalar<float>(), StreamOfSeed(seed));
}

void RegisterDistortedBox(Registrar& registrar) {
  registrar.AddAll<SampleDistortedBoundingBox, SampleDistortedBoundingBoxV2,
                   StatelessSampleDistortedBoundingBox>();
}

}  // namespace penstock::ops
