#include "penstock/ops/summary/image_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "penstock/io/image/png.h"
#include "penstock/io/summary.h"

namespace penstock::ops {
namespace {

// Below it an image counts as all zero: it has no scale.
constexpr float kZeroThreshold = 1e-6f;

// H, W and C of one image of the batch.
io::ImageExtent ExtentOf(const Shape& batch) { return {1, batch[1], batch[2], batch[3]}; }

template <class T>
bool IsFinite(const T* pixel, int64_t channels) {
  return std::all_of(pixel, pixel + channels,
                     [](T sample) { return std::isfinite(static_cast<double>(sample)); });
}

// The numbers a * scale + offset, rounded to T after each step, as TensorFlow does.
template <class T>
struct Scaling {
  T scale;
  T offset;

  uint8_t operator()(T sample) const {
    return static_cast<uint8_t>(static_cast<double>(static_cast<T>(Product(sample) + offset)));
  }
  T Product(T sample) const {
    if constexpr (std::is_floating_point_v<T>) {
      // Volatile: joined with the addition into one operation it would not be rounded.
      const volatile T product = sample * scale;
      return product;
    } else {
      return static_cast<T>(sample * scale);
    }
  }
};

template <class T>
Scaling<T> ScalingOf(const T* samples, int64_t pixels, int64_t channels) {
  float least = std::numeric_limits<float>::infinity(), most = -least;
  for (const T* pixel = samples; pixel != samples + pixels * channels; pixel += channels) {
    if (!IsFinite(pixel, channels)) continue;
    for (int64_t c = 0; c < channels; ++c) {
      least = std::min(least, static_cast<float>(pixel[c]));
      most = std::max(most, static_cast<float>(pixel[c]));
    }
  }
  const bool centred = least < 0;
  const float reach = centred ? std::max(std::abs(least), std::abs(most)) : most;
  const float scale = reach < kZeroThreshold ? 0 : (centred ? 127.f : 255.f) / reach;
  return {static_cast<T>(scale), static_cast<T>(centred ? 128.f : 0.f)};
}

template <class T>
std::vector<uint8_t> ToBytes(const T* samples, const io::ImageExtent& extent,
                             const uint8_t* bad_color) {
  const int64_t pixels = extent.height * extent.width, channels = extent.channels;
  const Scaling<T> scaling = ScalingOf(samples, pixels, channels);
  std::vector<uint8_t> bytes(static_cast<size_t>(pixels * channels));
  for (int64_t p = 0; p < pixels; ++p) {
    const T* from = samples + p * channels;
    uint8_t* to = bytes.data() + p * channels;
    if (IsFinite(from, channels)) {
      std::transform(from, from + channels, to, scaling);
    } else {
      std::copy_n(bad_color, channels, to);
    }
  }
  return bytes;
}

// Image `i` of the batch as bytes.
std::vector<uint8_t> BytesOf(const Tensor& batch, int64_t i, const Tensor& bad_color) {
  const io::ImageExtent extent = ExtentOf(batch.shape());
  const int64_t size = extent.height * extent.width * extent.channels;
  const uint8_t* bad = bad_color.data<uint8_t>();
  switch (batch.dtype()) {
    case DType::kHalf:
      return ToBytes(batch.data<half>() + i * size, extent, bad);
    case DType::kFloat:
      return ToBytes(batch.data<float>() + i * size, extent, bad);
    case DType::kDouble:
      return ToBytes(batch.data<double>() + i * size, extent, bad);
    default:
      const uint8_t* samples = batch.data<uint8_t>() + i * size;
      return std::vector<uint8_t>(samples, samples + size);
  }
}

}  // namespace

Tensor DefaultBadColor() { return Tensor::FromValues<uint8_t>({4}, {255, 0, 0, 255}); }

Status ImageSummary::CheckAttrs() const {
  if (bad_color.dtype() == DType::kUint8 && bad_color.shape().rank() == 1) return OkStatus();
  return InvalidArgument("bad_color must be a vector of uint8, got {} of shape {}",
                         bad_color.dtype(), bad_color.shape());
}

Result<Shape> ImageSummary::InferShape(const Shape& tag, const Shape& tensor) const {
  TRY(CheckScalar(tag, "tag"));
  TRY(CheckRank(tensor, 4, "tensor"));
  const int64_t channels = tensor.has_rank() ? tensor[3] : Shape::kUnknownDim;
  if (channels >= 0 && channels != 1 && channels != 3 && channels != 4)
    return InvalidArgument("Tensor must be 4-D with last dim 1, 3, or 4, not {}", tensor);
  if (channels > bad_color.num_elements())
    return InvalidArgument("bad_color must have a number for each channel: {} vs {}",
                           bad_color.num_elements(), channels);
  return Shape();
}

Status ImageSummary::ComputeCpu(CpuContext&, const Tensor& tag, const Tensor& tensor,
                                Tensor& summary) const {
  const io::ImageExtent extent = ExtentOf(tensor.shape());
  TRY(io::CheckExtent(extent, io::kMaxSamples, "ImageSummary"));
  std::string& out = *summary.mutable_data<std::string>();
  const std::string base = tag.scalar<std::string>() + "/image";
  for (int64_t i = 0; i < std::min(max_images, tensor.shape()[0]); ++i) {
    const std::vector<uint8_t> bytes = BytesOf(tensor, i, bad_color);
    TRY_ASSIGN(const std::string file, io::EncodePng(bytes.data(), extent, 8, -1));
    // Numbered by what was asked for, not by what there is: a tag keeps its name.
    out += io::ImageSummary(max_images > 1 ? Format("{}/{}", base, i) : base, extent.height,
                            extent.width, extent.channels, file);
  }
  return OkStatus();
}

}  // namespace penstock::ops
