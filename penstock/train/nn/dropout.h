#pragma once

#include "penstock/train/nn/layer.h"

namespace penstock::nn {

struct DropoutOptions {
  // Axes along which all is dropped or kept together, such as {1, 2} for whole channels of an
  // image.
  std::vector<int64_t> together = {};
  uint64_t seed = 0;
  std::string name = {};  // in place of "dropout"
};

// In training, sets each element to zero with probability `rate` and scales the others by
// 1 / (1 - rate). Otherwise x itself. The masks follow from the seed and the number of training
// steps so far, which is a variable: training that goes on from a checkpoint draws what it would
// have drawn.
class Dropout : public Layer {
 public:
  explicit Dropout(float rate, DropoutOptions options = {}, CallSite site = CallSite::Here());
};

}  // namespace penstock::nn
