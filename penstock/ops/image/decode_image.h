#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"

// Image files as pixels. What a file is, its first bytes say: as in stock TensorFlow, the ops of
// JPEG, PNG and GIF decode one another's files.

namespace penstock::ops {

// How JPEG files are decoded.
struct JpegAttrs {
  int64_t channels = 0;
  int64_t ratio = 1;
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  float acceptable_fraction = 1;
  std::string dct_method;
  static constexpr std::tuple kAttrs{
      Field{"channels", &JpegAttrs::channels},
      Field{"ratio", &JpegAttrs::ratio},
      Field{"fancy_upscaling", &JpegAttrs::fancy_upscaling},
      Field{"try_recover_truncated", &JpegAttrs::try_recover_truncated},
      Field{"acceptable_fraction", &JpegAttrs::acceptable_fraction},
      Field{"dct_method", &JpegAttrs::dct_method}};

  Status CheckAttrs() const;
};

struct DecodeJpeg : JpegAttrs {
  static constexpr auto kName = "DecodeJpeg";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"contents", std::string>, Out<"image", uint8_t>>;

  Result<Shape> InferShape(const Shape& contents) const;
  Status ComputeCpu(CpuContext& context, const Tensor& contents) const;
};

// The part of an image that crop_window [y, x, height, width] names.
struct DecodeAndCropJpeg : JpegAttrs {
  static constexpr auto kName = "DecodeAndCropJpeg";
  static constexpr bool kNoGradient = true;
  using Sig =
      Signature<In<"contents", std::string>, In<"crop_window", int32_t>, Out<"image", uint8_t>>;

  Result<Shape> InferShape(const Shape& contents, const Integers& crop_window) const;
  Status ComputeCpu(CpuContext& context, const Tensor& contents, const Tensor& crop_window) const;
};

struct DecodePng {
  static constexpr auto kName = "DecodePng";
  static constexpr bool kNoGradient = true;
  int64_t channels = 0;
  using Sig = Signature<In<"contents", std::string>,
                        Out<"image", TypeVarOr<"dtype", uint8_t, uint8_t, uint16_t>>>;
  static constexpr std::tuple kAttrs{Field{"channels", &DecodePng::channels}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& contents) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& contents) const;
};

// All frames.
struct DecodeGif {
  static constexpr auto kName = "DecodeGif";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"contents", std::string>, Out<"image", uint8_t>>;

  Result<Shape> InferShape(const Shape& contents) const;
  Status ComputeCpu(CpuContext& context, const Tensor& contents) const;
};

struct DecodeBmp {
  static constexpr auto kName = "DecodeBmp";
  static constexpr bool kNoGradient = true;
  int64_t channels = 0;
  using Sig = Signature<In<"contents", std::string>, Out<"image", uint8_t>>;
  static constexpr std::tuple kAttrs{Field{"channels", &DecodeBmp::channels}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& contents) const;
  Status ComputeCpu(CpuContext& context, const Tensor& contents) const;
};

// Any of them; numbers of other types are scaled to their range, floats to [0, 1].
struct DecodeImage {
  static constexpr auto kName = "DecodeImage";
  static constexpr bool kNoGradient = true;
  int64_t channels = 0;
  bool expand_animations = true;
  using Sig = Signature<In<"contents", std::string>,
                        Out<"image", TypeVarOr<"dtype", uint8_t, uint8_t, uint16_t, float>>>;
  static constexpr std::tuple kAttrs{Field{"channels", &DecodeImage::channels},
                                     Field{"expand_animations", &DecodeImage::expand_animations}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& contents) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& contents) const;
};

// Frames of 3 channels, or of 4 where there is transparency.
struct DecodeWebP {
  static constexpr auto kName = "DecodeWebP";
  static constexpr bool kNoGradient = true;
  int64_t channels = 0;
  using Sig =
      Signature<In<"contents", std::string>, Out<"image", TypeVarOr<"dtype", uint8_t, uint8_t>>>;
  static constexpr std::tuple kAttrs{Field{"channels", &DecodeWebP::channels}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& contents) const;
  Status ComputeCpu(CpuContext& context, const Tensor& contents) const;
};

struct ExtractJpegShape {
  static constexpr auto kName = "ExtractJpegShape";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"contents", std::string>,
                        Out<"image_shape", TypeVarOr<"output_type", int32_t, int32_t, int64_t>>>;

  Result<Shape> InferShape(const Shape& contents) const;
  Status ComputeCpu(CpuContext& context, const Tensor& contents, Tensor& image_shape) const;
};

}  // namespace penstock::ops
