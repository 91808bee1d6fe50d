#pragma once

#include "penstock/train/nn/initializers.h"
#include "penstock/train/nn/layer.h"

// Normalisations over the channels, which are the last axis and must be known.

namespace penstock::nn {

struct BatchNormOptions {
  float momentum = 0.99f;  // how much of the moving averages stays at each step
  float epsilon = 1e-3f;
  bool scale = true;   // has a gamma
  bool center = true;  // has a beta
  Initializer gamma = Ones();
  Initializer beta = Zeros();
  std::string name = {};  // in place of "batch_normalization"
};

// In training, each channel gets mean 0 and variance 1 over the batch and all other axes, and the
// moving averages are an update of the graph (UpdatesOf), which Minimize runs with each step;
// otherwise the moving averages take the place of the batch's. The moving variance is that of an
// unbiased estimate.
class BatchNorm : public Layer {
 public:
  explicit BatchNorm(BatchNormOptions options = {}, CallSite site = CallSite::Here());
};

}  // namespace penstock::nn
