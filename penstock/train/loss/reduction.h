#pragma once

#include "penstock/client/output.h"

namespace penstock {

// How the losses of the elements of a batch become one number.
enum class Reduction {
  kMean,             // their sum by their number; weights do not change the number
  kMeanOverWeights,  // their sum by the sum of the weights
  kMeanOverNonzero,  // their sum by the number of those whose weight is not zero: for masks
  kSum,
  kNone,  // they stay as they are
};

// What the options of all losses begin with. A mean over nothing (an empty batch, weights all zero)
// is 0.
struct LossOptions {
  // A factor for each loss; none by default. Of fewer axes than the losses: for whole rows of them.
  Output<float> weights = {};
  Reduction reduction = Reduction::kMean;
};

}  // namespace penstock
