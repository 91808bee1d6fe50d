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

struct LayerNormOptions {
  float epsilon = 1e-3f;
  bool scale = true;
  bool center = true;
  std::string name = {};  // in place of "layer_normalization"
};

// Each row of channels gets mean 0 and variance 1, then gamma and beta.
class LayerNorm : public Layer {
 public:
  explicit LayerNorm(LayerNormOptions options = {}, CallSite site = CallSite::Here());
};

struct GroupNormOptions {
  float epsilon = 1e-3f;
  bool scale = true;
  bool center = true;
  std::string name = {};  // in place of "group_normalization"
};

// The same over groups of channels and all axes between the batch and the channels. As many groups
// as channels: instance normalisation.
class GroupNorm : public Layer {
 public:
  explicit GroupNorm(int64_t groups = 32, GroupNormOptions options = {},
                     CallSite site = CallSite::Here());
};

struct LocalResponseNormOptions {
  int64_t radius = 5;
  float bias = 1;
  float alpha = 1;
  float beta = 0.5f;
};

// x / (bias + alpha * sum of squares over `radius` channels to both sides)^beta, of [batch, height,
// width, channels].
class LocalResponseNorm : public Layer {
 public:
  explicit LocalResponseNorm(LocalResponseNormOptions options = {},
                             CallSite site = CallSite::Here());
};

}  // namespace penstock::nn
