#pragma once

#include "penstock/kernels/conv.h"

namespace penstock::kernels {

// What a candidate of PlanConvolution is asked.
struct ConvProblem {
  ConvPass pass = ConvPass::kForward;
  DType dtype = DType::kInvalid;
  ConvShape shape;
  Epilogue epilogue;

  bool operator==(const ConvProblem&) const = default;
};

// Each returns the implementation, or null and sets `why`.

// Fewer multiplications, for filters of 3x3 and 5x5: see Note [winograd].
std::unique_ptr<Convolution> MakeWinogradConvolution(const ConvProblem& problem, const char** why);
// oneDNN's compiled kernels.
std::unique_ptr<Convolution> MakeOneDnnConvolution(const ConvProblem& problem, const char** why);
// Straight loops: takes all, and is the oracle of the others.
std::unique_ptr<Convolution> MakeDirectConvolution(const ConvProblem& problem, const char** why);

}  // namespace penstock::kernels
