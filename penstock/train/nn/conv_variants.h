#pragma once

#include "penstock/train/nn/conv.h"

// Convolutions that mix places and channels apart, and the one that makes images larger. Options
// are those of Conv2D; `groups` has no meaning here.

namespace penstock::nn {

// Each channel has `multiplier` filters of its own: [batch, height, width, channels * multiplier].
class DepthwiseConv2D : public Layer {
 public:
  explicit DepthwiseConv2D(Sizes window, Activation activation = {}, ConvOptions options = {},
                           int64_t multiplier = 1, CallSite site = CallSite::Here());
};

// A depthwise convolution, then one of window 1 that mixes the channels.
class SeparableConv2D : public Layer {
 public:
  SeparableConv2D(int64_t filters, Sizes window, Activation activation = {},
                  ConvOptions options = {}, int64_t multiplier = 1,
                  CallSite site = CallSite::Here());
};

// The derivative of a Conv2D by its input: strides make the result larger. kSame or kValid.
class Conv2DTranspose : public Layer {
 public:
  Conv2DTranspose(int64_t filters, Sizes window, Activation activation = {},
                  ConvOptions options = {}, CallSite site = CallSite::Here());
};

}  // namespace penstock::nn
