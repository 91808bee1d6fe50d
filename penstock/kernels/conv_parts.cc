#include "penstock/kernels/conv_parts.h"

#include <algorithm>
#include <cmath>

namespace penstock::kernels {
namespace {

// Some fifty microseconds of one core; below, handing parts out costs too much.
constexpr double kLeastWork = 4e6;
// So many parts keep the threads of most machines busy.
constexpr int64_t kWanted = 16;
constexpr int64_t kMost = 64;
// Kernels block over rows; shorter parts lose more than another thread gains.
constexpr int64_t kLeastRows = 4;

int64_t CeilDiv(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

// Each part of a filter gradient has a filter of its own, and adding an element of it up takes as
// long as some 36 multiplications: that may cost 3 %. Where filters are large and images small a
// part costs far more (a third for four of 14 x 14 x 256 to 256), so that two must do.
int64_t MostParts(ConvPass pass, const ConvShape& shape) {
  if (pass != ConvPass::kFilterGradient) return kMost;
  const double parts =
      0.03 / 36 * shape.multiplications() / static_cast<double>(shape.filter_size());
  return static_cast<int64_t>(std::clamp(parts, 2.0, 16.0));
}

// Rows [begin, end) of the output with the rows of the input that they read. False when they read
// nothing but padding.
bool OutputRows(const ConvShape& whole, int axis, int64_t begin, int64_t end, ConvPart& part) {
  const int64_t stride = whole.stride[axis];
  const int64_t reach = (whole.filter[axis] - 1) * whole.dilation[axis];
  const int64_t low = begin * stride - whole.pad[axis];
  const int64_t high = (end - 1) * stride - whole.pad[axis] + reach + 1;
  const int64_t first = std::max<int64_t>(low, 0), last = std::min(high, whole.in[axis]);
  if (first >= last) return false;
  part.shape.in[axis] = last - first;
  part.shape.out[axis] = end - begin;
  part.shape.pad[axis] = first - low;
  part.input_offset += first;
  part.output_offset += begin;
  return true;
}

// Rows [begin, end) of the input with the rows of the output that read them.
bool InputRows(const ConvShape& whole, int axis, int64_t begin, int64_t end, ConvPart& part) {
  const int64_t stride = whole.stride[axis];
  const int64_t reach = (whole.filter[axis] - 1) * whole.dilation[axis];
  const int64_t pad = whole.pad[axis];
  const int64_t first = std::max<int64_t>(0, CeilDiv(begin + pad - reach, stride));
  const int64_t last = std::min(whole.out[axis], (end - 1 + pad) / stride + 1);
  if (first >= last || pad + begin < first * stride) return false;
  part.shape.in[axis] = end - begin;
  part.shape.out[axis] = last - first;
  part.shape.pad[axis] = pad + begin - first * stride;
  part.input_offset += begin;
  part.output_offset += first;
  return true;
}

// The images [begin, end), cut into `pieces` ranges of rows. False when rows cannot be cut so.
bool AppendParts(ConvPass pass, const ConvShape& shape, int axis, int64_t begin, int64_t end,
                 int64_t pieces, std::vector<ConvPart>& parts) {
  ConvShape one = shape;
  one.batch = 1;
  const int64_t in_image = one.input_size(), out_image = one.output_size();
  const int64_t in_row = in_image / shape.in[axis], out_row = out_image / shape.out[axis];
  const bool cut_input = pass == ConvPass::kInputGradient;
  const int64_t rows = cut_input ? shape.in[axis] : shape.out[axis];
  for (int64_t i = 0; i < pieces; ++i) {
    ConvPart part;
    part.shape = shape;
    part.shape.batch = end - begin;
    if (pieces > 1) {
      const int64_t from = rows * i / pieces, to = rows * (i + 1) / pieces;
      if (!(cut_input ? InputRows : OutputRows)(shape, axis, from, to, part)) return false;
    }
    part.input_offset = part.input_offset * in_row + begin * in_image;
    part.output_offset = part.output_offset * out_row + begin * out_image;
    parts.push_back(part);
  }
  return true;
}

}  // namespace

std::vector<ConvPart> SplitConvolution(ConvPass pass, const ConvShape& shape) {
  const double image = std::max(1.0, shape.multiplications() / static_cast<double>(shape.batch));
  const int64_t least_images = static_cast<int64_t>(std::min(std::ceil(kLeastWork / image), 1e9));
  const int64_t most = MostParts(pass, shape);
  const int64_t groups = std::clamp<int64_t>(shape.batch / least_images, 1, most);

  int axis = 0;
  while (axis + 1 < ConvShape::kAxes && shape.in[axis] == 1 && shape.filter[axis] == 1) ++axis;
  int64_t pieces = 1;
  if (groups == shape.batch && groups < kWanted) {
    const int64_t rows = pass == ConvPass::kInputGradient ? shape.in[axis] : shape.out[axis];
    pieces = std::min({CeilDiv(std::min(kWanted, most), groups), rows / kLeastRows,
                       static_cast<int64_t>(image / kLeastWork)});
    pieces = std::max<int64_t>(pieces, 1);
  }
  for (;; pieces = 1) {
    std::vector<ConvPart> parts;
    bool fits = true;
    for (int64_t i = 0; i < groups && fits; ++i) {
      fits = AppendParts(pass, shape, axis, shape.batch * i / groups,
                         shape.batch * (i + 1) / groups, pieces, parts);
    }
    if (fits) return parts;
  }
}

}  // namespace penstock::kernels
