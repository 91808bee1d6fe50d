#pragma once

#include <cstdint>

#include "penstock/kernels/epilogue.h"

namespace penstock::kernels::winograd {

// F(m x m, r x r): tiles of m x m outputs of a convolution with r x r taps.
enum class Form { kF2x3, kF4x3, kF4x5 };

struct FormSizes {
  int64_t tile;    // m
  int64_t taps;    // r
  int64_t points;  // n = m + r - 1; n x n products for each tile and pair of channels
};
constexpr FormSizes SizesOf(Form form) {
  switch (form) {
    case Form::kF2x3:
      return {2, 3, 4};
    case Form::kF4x3:
      return {4, 3, 6};
    case Form::kF4x5:
      return {4, 5, 8};
  }
  return {};
}

// Channels are handled in panels of 16: one vector of AVX-512, two of AVX2, four of SSE.
constexpr int64_t kPanel = 16;
constexpr int64_t Panels(int64_t channels) { return (channels + kPanel - 1) / kPanel; }

// Where values at points lie: plane p, panel q of 16 channels, row t (a tile, or a channel of the
// other side) are at data + p * plane + q * panel + t * row, in floats.
struct PointArray {
  float* data = nullptr;
  int64_t plane = 0, panel = 0, row = 0;
};

// Images [.., height, width, channels] seen as tiles: tile (y, x) of the tiles_y * tiles_x of an
// image begins at row y * step - top and column x * step - left. Tiles are counted over the images
// of a batch; what lies outside an image reads as zero and is not written.
struct Tiles {
  int64_t height = 0, width = 0, channels = 0;
  int64_t top = 0, left = 0, step = 0;
  int64_t tiles_y = 0, tiles_x = 0;
};

// All run on the calling thread. Channels past the last of a panel read as zero and are not
// written, but for those of a PointArray, which has room for whole panels.

// Tiles [first, first + count) of a convolution's input, to rows [0, count).
void InputToPoints(Form form, const Tiles& tiles, const float* images, int64_t first, int64_t count,
                   const PointArray& to);
// The same of the gradient of its output: `channels` of them from `first_channel` on, a multiple of
// 16, to panels from 0 on.
void OutputGradientToPoints(Form form, const Tiles& tiles, const float* images, int64_t first,
                            int64_t count, int64_t first_channel, int64_t channels,
                            const PointArray& to);

// What is done to outputs before they are written; bias and addend begin at channel and element 0.
struct OutputFinish {
  Epilogue epilogue;
  const float* bias = nullptr;
  const float* addend = nullptr;
  bool stream =
      false;  // write past the caches; REQUIRES: images aligned, channels a multiple of 16
};
// The most channels that PointsToOutput takes.
constexpr int64_t kMostOutputChannels = 128;
// Rows [0, count) to tiles [first, first + count) of the output, to the same channels.
void PointsToOutput(Form form, const Tiles& tiles, const PointArray& from, int64_t first,
                    int64_t count, int64_t first_channel, int64_t channels,
                    const OutputFinish& finish, float* images);

// A filter [taps, rows, columns] in memory: element (tap, row, column) is at data + tap * step +
// row * columns + column.
struct FilterView {
  int64_t step = 0;
  int64_t columns = 0;
};
// `rows` rows of a panel of `width` <= 16 columns, from `filter` on, to rows and one panel of `to`.
void FilterToPoints(Form form, const FilterView& view, const float* filter, int64_t rows,
                    int64_t width, const PointArray& to);
// The same backwards, by the transposed map: a filter's gradient from its gradient at the points.
void PointsToFilterGradient(Form form, const FilterView& view, const PointArray& from, int64_t rows,
                            int64_t width, float* filter);

}  // namespace penstock::kernels::winograd
