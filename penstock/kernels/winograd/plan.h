#pragma once

#include <cstdint>

#include "penstock/kernels/conv_candidates.h"
#include "penstock/kernels/winograd/transform.h"

namespace penstock::kernels::winograd {

// A convolution of stride 1 as a form computes it:
//   T tiles in all images, C input channels, K output channels, points x points products of
//   [T, C] and [C, K].
struct Sizes {
  Sizes(Form form, const ConvShape& shape);

  // A padded plane: one whose size is a power of two would put the elements of one tile and channel
  // into a few sets of the caches.
  int64_t InputPlane(int64_t rows) const { return Panels(C) * rows * kPanel + kPanel; }
  int64_t FilterPlane(int64_t columns) const { return Panels(columns) * C * kPanel + kPanel; }

  Form form;
  int64_t T, C, K;
  int64_t taps;    // of the filter, both axes
  int64_t planes;  // points, both axes
  Tiles input, output;
};

// The cheapest form that takes the problem; null and `why` when there is none, or when a direct
// convolution is expected to be faster.
const Form* ChooseForm(const ConvProblem& problem, const char** why);

// The convolution that computes the input's gradient of one with stride 1 from that of the output:
// with the taps in reverse order, input and output channels swapped.
ConvShape Mirrored(const ConvShape& shape);

std::unique_ptr<Convolution> MakeForward(Form form, const ConvProblem& problem);
// REQUIRES: `problem` is that of the gradient, not the mirrored one.
std::unique_ptr<Convolution> MakeInputGradient(Form form, const ConvProblem& problem);
std::unique_ptr<Convolution> MakeFilterGradient(Form form, const ConvProblem& problem);

}  // namespace penstock::kernels::winograd
