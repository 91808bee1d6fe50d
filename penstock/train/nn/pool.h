#pragma once

#include "penstock/train/nn/layer.h"
#include "penstock/train/nn/window.h"

// Pools over [batch, axes..., channels].

namespace penstock::nn {

struct PoolOptions {
  Sizes strides = {};  // none given: the window
  Padding padding = kValid;
  std::string name = {};
};

// The largest of each window; padding is less than anything.
class MaxPool1D : public Layer {
 public:
  explicit MaxPool1D(Sizes window = 2, PoolOptions options = {}, CallSite site = CallSite::Here());
};
class MaxPool2D : public Layer {
 public:
  explicit MaxPool2D(Sizes window = 2, PoolOptions options = {}, CallSite site = CallSite::Here());
};
class MaxPool3D : public Layer {
 public:
  explicit MaxPool3D(Sizes window = 2, PoolOptions options = {}, CallSite site = CallSite::Here());
};

// The mean of each window. kSame leaves padding out of it; explicit padding counts as zeros.
class AvgPool1D : public Layer {
 public:
  explicit AvgPool1D(Sizes window = 2, PoolOptions options = {}, CallSite site = CallSite::Here());
};
class AvgPool2D : public Layer {
 public:
  explicit AvgPool2D(Sizes window = 2, PoolOptions options = {}, CallSite site = CallSite::Here());
};
class AvgPool3D : public Layer {
 public:
  explicit AvgPool3D(Sizes window = 2, PoolOptions options = {}, CallSite site = CallSite::Here());
};

// One value for each channel: [batch, channels]. Of any number of axes.
class GlobalMaxPool : public Layer {
 public:
  explicit GlobalMaxPool(CallSite site = CallSite::Here());
};
class GlobalAvgPool : public Layer {
 public:
  explicit GlobalAvgPool(CallSite site = CallSite::Here());
};

}  // namespace penstock::nn
