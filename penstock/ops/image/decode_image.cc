#include "penstock/ops/image/decode_image.h"

#include <array>
#include <optional>

#include "penstock/io/image/bmp.h"
#include "penstock/io/image/gif.h"
#include "penstock/io/image/jpeg.h"
#include "penstock/io/image/png.h"
#include "penstock/io/image/webp.h"
#include "penstock/ops/store_integers.h"

namespace penstock::ops {
namespace {

enum class Format { kUnknown, kJpeg, kPng, kGif, kBmp, kWebP };

Format FormatOf(std::string_view bytes) {
  if (bytes.starts_with("\xff\xd8\xff")) return Format::kJpeg;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return Format::kPng;
  if (bytes.starts_with("GIF8")) return Format::kGif;
  if (bytes.starts_with("BM")) return Format::kBmp;
  if (bytes.size() > 12 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP")
    return Format::kWebP;
  return Format::kUnknown;
}

// What an op takes and gives.
struct Request {
  DType dtype = DType::kUint8;
  int64_t channels = 0;
  bool takes_jpeg = true;
  bool takes_png = true;
  bool takes_gif = true;
  bool takes_bmp = false;
  bool takes_webp = false;
  bool all_frames = true;
  bool one_frame_only = false;  // refuses files of several
  bool frames_axis = false;     // also for files of one
  io::JpegDecodeOptions jpeg = {};
};

Shape ShapeOf(const io::ImageExtent& extent, bool frames_axis) {
  if (frames_axis) return Shape{extent.frames, extent.height, extent.width, extent.channels};
  return Shape{extent.height, extent.width, extent.channels};
}

// Turns 8 or 16 bits into the type of `output`.
void Convert(const Tensor& samples, Tensor& output) {
  const int64_t n = output.num_elements();
  if (output.dtype() == DType::kUint16) {
    const uint8_t* from = samples.data<uint8_t>();
    for (int64_t i = 0; i < n; ++i)
      output.mutable_data<uint16_t>()[i] = static_cast<uint16_t>(from[i] * 256);
  } else if (samples.dtype() == DType::kUint16) {
    const uint16_t* from = samples.data<uint16_t>();
    for (int64_t i = 0; i < n; ++i)
      output.mutable_data<float>()[i] =
          static_cast<float>(from[i]) * static_cast<float>(1. / 65535);
  } else {
    const uint8_t* from = samples.data<uint8_t>();
    for (int64_t i = 0; i < n; ++i)
      output.mutable_data<float>()[i] = static_cast<float>(from[i]) * static_cast<float>(1. / 255);
  }
}

Status Refused(std::string_view format) {
  return InvalidArgument("the op does not decode {} files", format);
}

// Calls `decode` with memory for samples of `dtype`: the output's own where it is of that type.
template <class F>
Status DecodeInto(CpuContext& context, const Request& request, DType dtype, bool frames_axis,
                  F&& decode) {
  Tensor samples;
  TRY(decode([&](const io::ImageExtent& extent) -> Result<uint8_t*> {
    if (request.one_frame_only && extent.frames != 1) {
      return InvalidArgument("{} frames: an animation is decoded by DecodeGif or DecodeImage",
                             extent.frames);
    }
    const Shape shape = ShapeOf(extent, frames_axis);
    TRY_ASSIGN(samples, context.Allocate(dtype, shape));
    return static_cast<uint8_t*>(samples.mutable_raw());
  }));
  if (dtype == request.dtype) {
    context.SetOutput(0, std::move(samples));
    return OkStatus();
  }
  TRY(context.AllocateOutput(0, request.dtype, samples.shape()));
  Convert(samples, context.output(0));
  return OkStatus();
}

Status Decode(CpuContext& context, const Tensor& contents, const Request& request) {
  const std::string_view bytes = contents.scalar<std::string>();
  const int channels = static_cast<int>(request.channels);
  switch (FormatOf(bytes)) {
    case Format::kJpeg: {
      if (!request.takes_jpeg) return Refused("JPEG");
      if (channels == 4) return InvalidArgument("JPEG files have 1 or 3 channels, got 4");
      io::JpegDecodeOptions options = request.jpeg;
      options.channels = channels;
      return DecodeInto(
          context, request, DType::kUint8, request.frames_axis,
          [&](io::PixelMemory memory) { return io::DecodeJpeg(bytes, options, memory); });
    }
    case Format::kPng: {
      if (!request.takes_png) return Refused("PNG");
      const bool narrow = request.dtype == DType::kUint8;
      const io::PngDecodeOptions options{channels, narrow ? 8 : 16};
      return DecodeInto(
          context, request, narrow ? DType::kUint8 : DType::kUint16, request.frames_axis,
          [&](io::PixelMemory memory) { return io::DecodePng(bytes, options, memory); });
    }
    case Format::kGif:
      if (!request.takes_gif) return Refused("GIF");
      if (channels != 0 && channels != 3)
        return InvalidArgument("GIF files have 3 channels, got {}", channels);
      return DecodeInto(context, request, DType::kUint8,
                        request.all_frames && !request.one_frame_only, [&](io::PixelMemory memory) {
                          return io::DecodeGif(bytes, request.all_frames, io::kMaxSamples, memory);
                        });
    case Format::kBmp:
      if (!request.takes_bmp) return Refused("BMP");
      if (channels == 1) return InvalidArgument("BMP files have 3 or 4 channels, got 1");
      return DecodeInto(context, request, DType::kUint8, false, [&](io::PixelMemory memory) {
        return io::DecodeBmp(bytes, channels, io::kMaxSamples, memory);
      });
    case Format::kWebP:
      if (!request.takes_webp) return Refused("WebP");
      if (channels == 1) return InvalidArgument("WebP files have 3 or 4 channels, got 1");
      if (request.dtype != DType::kUint8)
        return InvalidArgument("WebP files are decoded to uint8, got {}", request.dtype);
      return DecodeInto(
          context, request, DType::kUint8, request.all_frames, [&](io::PixelMemory memory) {
            return io::DecodeWebP(bytes, channels, request.all_frames, io::kMaxSamples, memory);
          });
    case Format::kUnknown:
      break;
  }
  return InvalidArgument("contents must be a JPEG, PNG, GIF, BMP or WebP file, got {} other bytes",
                         bytes.size());
}

Status CheckChannels(int64_t channels) {
  if (channels == 0 || channels == 1 || channels == 3 || channels == 4) return OkStatus();
  return InvalidArgument("channels must be 0, 1, 3 or 4, got {}", channels);
}

Result<Shape> InferImage(const Shape& contents, int64_t channels) {
  TRY(CheckScalar(contents, "contents"));
  return Shape{Shape::kUnknownDim, Shape::kUnknownDim,
               channels == 0 ? Shape::kUnknownDim : channels};
}

io::JpegDecodeOptions OptionsOf(const JpegAttrs& attrs) {
  io::JpegDecodeOptions options;
  options.ratio = static_cast<int>(attrs.ratio);
  options.fancy_upscaling = attrs.fancy_upscaling;
  options.recover_truncated = attrs.try_recover_truncated;
  options.acceptable_fraction = attrs.acceptable_fraction;
  options.accurate = attrs.dct_method == "INTEGER_ACCURATE";
  return options;
}

}  // namespace

Status JpegAttrs::CheckAttrs() const {
  if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8)
    return InvalidArgument("ratio must be 1, 2, 4 or 8, got {}", ratio);
  if (!dct_method.empty() && dct_method != "INTEGER_FAST" && dct_method != "INTEGER_ACCURATE") {
    return InvalidArgument("dct_method must be empty, INTEGER_FAST or INTEGER_ACCURATE, got {}",
                           dct_method);
  }
  return CheckChannels(channels);
}

Result<Shape> DecodeJpeg::InferShape(const Shape& contents) const {
  return InferImage(contents, channels);
}
Status DecodeJpeg::ComputeCpu(CpuContext& context, const Tensor& contents) const {
  return Decode(context, contents,
                {.channels = channels, .one_frame_only = true, .jpeg = OptionsOf(*this)});
}

Result<Shape> DecodeAndCropJpeg::InferShape(const Shape& contents,
                                            const Integers& crop_window) const {
  TRY_ASSIGN(Shape image, InferImage(contents, channels));
  TRY(CheckVector(crop_window.shape(), "crop_window"));
  if (crop_window.shape().has_rank() && crop_window.shape()[0] >= 0 && crop_window.shape()[0] != 4)
    return InvalidArgument("crop_window must have 4 elements, got {}", crop_window.shape()[0]);
  if (!crop_window.known()) return image;
  for (const int axis : {0, 1}) {
    const int64_t extent = crop_window[static_cast<size_t>(axis) + 2];
    if (extent <= 0) return InvalidArgument("the crop window must not be empty, got {}", extent);
    image.set_dim(axis, extent);
  }
  return image;
}
Status DecodeAndCropJpeg::ComputeCpu(CpuContext& context, const Tensor& contents,
                                     const Tensor& crop_window) const {
  Request request{
      .channels = channels, .takes_png = false, .takes_gif = false, .jpeg = OptionsOf(*this)};
  const int32_t* crop = crop_window.data<int32_t>();
  request.jpeg.crop = io::JpegCrop{crop[0], crop[1], crop[2], crop[3]};
  return Decode(context, contents, request);
}

Status DecodePng::CheckAttrs() const { return CheckChannels(channels); }
Result<Shape> DecodePng::InferShape(const Shape& contents) const {
  return InferImage(contents, channels);
}
template <class T>
Status DecodePng::ComputeCpu(CpuContext& context, const Tensor& contents) const {
  return Decode(context, contents,
                {.dtype = kDTypeOf<T>, .channels = channels, .one_frame_only = true});
}

Result<Shape> DecodeGif::InferShape(const Shape& contents) const {
  TRY(CheckScalar(contents, "contents"));
  return Shape{Shape::kUnknownDim, Shape::kUnknownDim, Shape::kUnknownDim, 3};
}
Status DecodeGif::ComputeCpu(CpuContext& context, const Tensor& contents) const {
  return Decode(context, contents, {.channels = 3, .frames_axis = true});
}

Status DecodeBmp::CheckAttrs() const { return CheckChannels(channels); }
Result<Shape> DecodeBmp::InferShape(const Shape& contents) const {
  return InferImage(contents, channels);
}
Status DecodeBmp::ComputeCpu(CpuContext& context, const Tensor& contents) const {
  return Decode(context, contents,
                {.channels = channels,
                 .takes_jpeg = false,
                 .takes_png = false,
                 .takes_gif = false,
                 .takes_bmp = true});
}

Status DecodeImage::CheckAttrs() const { return CheckChannels(channels); }
Result<Shape> DecodeImage::InferShape(const Shape& contents) const {
  TRY(CheckScalar(contents, "contents"));
  if (expand_animations) return Shape::Unknown();
  return InferImage(contents, channels);
}
template <class T>
Status DecodeImage::ComputeCpu(CpuContext& context, const Tensor& contents) const {
  return Decode(context, contents,
                {.dtype = kDTypeOf<T>,
                 .channels = channels,
                 .takes_bmp = true,
                 .takes_webp = true,
                 .all_frames = expand_animations});
}

Status DecodeWebP::CheckAttrs() const { return CheckChannels(channels); }
Result<Shape> DecodeWebP::InferShape(const Shape& contents) const {
  TRY(CheckScalar(contents, "contents"));
  return Shape::Unknown();
}
Status DecodeWebP::ComputeCpu(CpuContext& context, const Tensor& contents) const {
  return Decode(context, contents, {.channels = channels, .takes_webp = true});
}

Result<Shape> ExtractJpegShape::InferShape(const Shape& contents) const {
  TRY(CheckScalar(contents, "contents"));
  return Shape{3};
}
Status ExtractJpegShape::ComputeCpu(CpuContext&, const Tensor& contents,
                                    Tensor& image_shape) const {
  TRY_ASSIGN(const io::ImageExtent extent, io::ReadJpegExtent(contents.scalar<std::string>()));
  return StoreIntegers(std::array<int64_t, 3>{extent.height, extent.width, extent.channels},
                       image_shape);
}

void RegisterDecodeImage(Registrar& registrar) {
  registrar.AddAll<DecodeJpeg, DecodeAndCropJpeg, DecodePng, DecodeGif, DecodeBmp, DecodeImage,
                   DecodeWebP, ExtractJpegShape>();
}

}  // namespace penstock::ops
