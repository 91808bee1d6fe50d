#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"

// Pixels as image files.

namespace penstock::ops {

struct EncodeJpeg {
  static constexpr auto kName = "EncodeJpeg";
  static constexpr bool kNoGradient = true;
  std::string format = "";
  int64_t quality = 95;
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  std::string density_unit = "in";
  int64_t x_density = 300;
  int64_t y_density = 300;
  std::string xmp_metadata = "";
  using Sig = Signature<In<"image", uint8_t>, Out<"contents", std::string>>;
  static constexpr std::tuple kAttrs{
      Field{"format", &EncodeJpeg::format}.OneOf("|grayscale|rgb"),
      Field{"quality", &EncodeJpeg::quality},
      Field{"progressive", &EncodeJpeg::progressive},
      Field{"optimize_size", &EncodeJpeg::optimize_size},
      Field{"chroma_downsampling", &EncodeJpeg::chroma_downsampling},
      Field{"density_unit", &EncodeJpeg::density_unit}.OneOf("in|cm"),
      Field{"x_density", &EncodeJpeg::x_density},
      Field{"y_density", &EncodeJpeg::y_density},
      Field{"xmp_metadata", &EncodeJpeg::xmp_metadata}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& image) const;
  Status ComputeCpu(CpuContext& context, const Tensor& image, Tensor& contents) const;
};

struct EncodeJpegVariableQuality {
  static constexpr auto kName = "EncodeJpegVariableQuality";
  static constexpr bool kNoGradient = true;
  using Sig =
      Signature<In<"images", uint8_t>, In<"quality", int32_t>, Out<"contents", std::string>>;

  Result<Shape> InferShape(const Shape& images, const Integers& quality) const;
  Status ComputeCpu(CpuContext& context, const Tensor& images, const Tensor& quality,
                    Tensor& contents) const;
};

// One file for each image of a batch, however many axes that has.
struct EncodePng {
  static constexpr auto kName = "EncodePng";
  static constexpr bool kNoGradient = true;
  int64_t compression = -1;
  using Sig = Signature<In<"image", TypeVarOr<"T", uint8_t, uint8_t, uint16_t>>,
                        Out<"contents", std::string>>;
  static constexpr std::tuple kAttrs{Field{"compression", &EncodePng::compression}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& image) const;
  Status ComputeCpu(CpuContext& context, const Tensor& image, Tensor& contents) const;
};

}  // namespace penstock::ops
