#pragma once

#include <vector>

#include "penstock/kernels/conv.h"

namespace penstock::kernels {

// A part of a pass: some images, or some rows of one image (positions along the outermost spatial
// axis in use). Both lie in one piece, since channels are last.
struct ConvPart {
  ConvShape shape;
  int64_t input_offset = 0;  // in elements
  int64_t output_offset = 0;
};

// Cuts a pass into parts for the threads. The cut hangs on the shape alone: a filter gradient is
// the sum of those of its parts, in their order, and must not tell how many threads there were.
// Parts of a forward pass write disjoint parts of the output, those of an input gradient of the
// input. A single part when the work is small or cannot be cut.
std::vector<ConvPart> SplitConvolution(ConvPass pass, const ConvShape& shape);

}  // namespace penstock::kernels
