#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/core/status.h"
#include "penstock/io/image/pixels.h"

// JPEG files through libjpeg-turbo. Built without it, every function is Unimplemented and names the
// package.

namespace penstock::io {

struct JpegCrop {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;
};

struct JpegDecodeOptions {
  int channels = 0;             // 1, 3, or 0 for those of the file
  int ratio = 1;                // 1, 2, 4 or 8 times smaller
  bool fancy_upscaling = true;  // of the colours, smoothly
  bool accurate = false;        // the slow, accurate inverse DCT
  // Takes what is there of a file that ends too early, and repeats its last row.
  bool recover_truncated = false;
  // Without that: the part of the rows that must be there; the others are black.
  float acceptable_fraction = 1;
  std::optional<JpegCrop> crop;
  int64_t max_samples = kMaxSamples;
};

Status DecodeJpeg(std::string_view bytes, const JpegDecodeOptions& options, PixelMemory memory);
// What the header says, without decoding.
Result<ImageExtent> ReadJpegExtent(std::string_view bytes);

struct JpegEncodeOptions {
  int quality = 95;
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  bool density_in_inches = true;  // else in centimetres
  int x_density = 300;
  int y_density = 300;
  std::string xmp_metadata;
};

// REQUIRES: one frame of 1 or 3 channels.
Result<std::string> EncodeJpeg(const uint8_t* pixels, const ImageExtent& extent,
                               const JpegEncodeOptions& options);

}  // namespace penstock::io
