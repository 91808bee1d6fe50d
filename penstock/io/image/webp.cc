#include "penstock/io/image/webp.h"

#include <webp/decode.h>
#include <webp/demux.h>

#include <cstring>
#include <memory>

namespace penstock::io {
namespace {

Status DecodeStill(std::string_view bytes, const ImageExtent& extent, PixelMemory memory) {
  TRY_ASSIGN(uint8_t * pixels, memory(extent));
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  const int64_t row = extent.width * extent.channels;
  const auto decode = extent.channels == 4 ? &WebPDecodeRGBAInto : &WebPDecodeRGBInto;
  if (decode(data, bytes.size(), pixels, static_cast<size_t>(row * extent.height),
             static_cast<int>(row)) == nullptr) {
    return InvalidArgument("WebP: the image of {} bytes is damaged or cut off", bytes.size());
  }
  return OkStatus();
}

Status DecodeAnimation(std::string_view bytes, ImageExtent extent, bool all_frames,
                       int64_t max_samples, PixelMemory memory) {
  const WebPData data{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  const std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder*)> decoder(
      WebPAnimDecoderNew(&data, nullptr), &WebPAnimDecoderDelete);
  WebPAnimInfo info;
  if (decoder == nullptr || WebPAnimDecoderGetInfo(decoder.get(), &info) == 0)
    return InvalidArgument("WebP: the animation of {} bytes is damaged or cut off", bytes.size());
  extent = {all_frames ? int64_t{info.frame_count} : 1, info.canvas_height, info.canvas_width, 4};
  TRY(CheckExtent(extent, max_samples, "WebP"));
  TRY_ASSIGN(uint8_t * pixels, memory(extent));
  const size_t frame_bytes = static_cast<size_t>(extent.height * extent.width * 4);
  for (int64_t frame = 0; frame < extent.frames; ++frame, pixels += frame_bytes) {
    uint8_t* canvas = nullptr;
    int time = 0;
    if (WebPAnimDecoderGetNext(decoder.get(), &canvas, &time) == 0)
      return InvalidArgument("WebP: frame {} of {} cannot be read", frame, extent.frames);
    std::memcpy(pixels, canvas, frame_bytes);
  }
  return OkStatus();
}

}  // namespace

Status DecodeWebP(std::string_view bytes, int channels, bool all_frames, int64_t max_samples,
                  PixelMemory memory) {
  WebPBitstreamFeatures features;
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  if (WebPGetFeatures(data, bytes.size(), &features) != VP8_STATUS_OK)
    return InvalidArgument("WebP: the header of {} bytes is damaged or cut off", bytes.size());
  const int has = features.has_alpha != 0 ? 4 : 3;
  const bool animated = features.has_animation != 0;
  if (channels != 0 && (channels != has || (animated && channels != 4)))
    return InvalidArgument("WebP: the image has {} channels, asked for {}", has, channels);
  const ImageExtent extent{1, features.height, features.width, animated ? 4 : has};
  TRY(CheckExtent(extent, max_samples, "WebP"));
  if (!animated) return DecodeStill(bytes, extent, memory);
  return DecodeAnimation(bytes, extent, all_frames, max_samples, memory);
}

}  // namespace penstock::io
