#pragma once

#include <cstdint>
#include <vector>

namespace penstock::ops {

// How places along one axis of a resized image map to the original. Arithmetic is in float, one
// operation at a time, as in stock TensorFlow: where a place falls between pixels decides bits.
struct ResizeAxis {
  int64_t from = 0;  // extent of the original
  int64_t to = 0;    // extent of the resized image
  bool half_pixel_centers = false;
  float scale = 1;

  ResizeAxis(int64_t original, int64_t resized, bool align_corners, bool half_pixels)
      : from(original),
        to(resized),
        half_pixel_centers(half_pixels),
        scale(align_corners && resized > 1
                  ? static_cast<float>(original - 1) / static_cast<float>(resized - 1)
                  : static_cast<float>(original) / static_cast<float>(resized)) {}

  // The place in the original, in pixels.
  float At(int64_t i) const {
    const float place = static_cast<float>(i);
    return half_pixel_centers ? (place + 0.5f) * scale - 0.5f : place * scale;
  }
};

// The pixels that each resized pixel is a weighted sum of: `count` of them, row i from i * count.
struct ResizeTaps {
  int count = 0;
  std::vector<int64_t> pixels;
  std::vector<float> weights;
};

// Two taps: the neighbours below and above a place.
ResizeTaps LinearTaps(const ResizeAxis& axis);
// Four taps, with weights from a table of 1024 steps. With half_pixel_centers Keys' kernel, where
// what lies outside weighs nothing; else a kernel of -0.75, which repeats the pixel at the edge.
ResizeTaps CubicTaps(const ResizeAxis& axis);
// The nearest pixel of each place.
std::vector<int64_t> NearestPixels(const ResizeAxis& axis, bool align_corners);

}  // namespace penstock::ops
