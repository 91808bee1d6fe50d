#pragma once

#include "penstock/train/nn/initializers.h"
#include "penstock/train/nn/layer.h"
#include "penstock/train/nn/window.h"

// Convolutions over [batch, axes..., channels]; the number of channels must be known.

namespace penstock::nn {

struct ConvOptions {
  Sizes strides = 1;
  Padding padding = kValid;
  Sizes dilation = 1;
  int64_t groups = 1;  // channels of a group see only each other
  bool bias = true;
  Initializer kernel = GlorotUniform();
  Initializer bias_value = Zeros();
  float l2 = 0;           // weight decay of the kernel: a penalty of l2 * sum(kernel^2)
  std::string name = {};  // in place of "conv2d"
};

class Conv1D : public Layer {
 public:
  Conv1D(int64_t filters, Sizes window, Activation activation = {}, ConvOptions options = {},
         CallSite site = CallSite::Here());
};
class Conv2D : public Layer {
 public:
  Conv2D(int64_t filters, Sizes window, Activation activation = {}, ConvOptions options = {},
         CallSite site = CallSite::Here());
};
class Conv3D : public Layer {
 public:
  Conv3D(int64_t filters, Sizes window, Activation activation = {}, ConvOptions options = {},
         CallSite site = CallSite::Here());
};

}  // namespace penstock::nn
