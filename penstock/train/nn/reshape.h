#pragma once

#include "penstock/train/nn/layer.h"

// Layers that change the shape alone.

namespace penstock::nn {

// [batch, ...] to [batch, product of the others], which must be known.
class Flatten : public Layer {
 public:
  explicit Flatten(CallSite site = CallSite::Here());
};

// [batch, ...] to [batch, shape...]; one extent may be -1.
class Reshape : public Layer {
 public:
  explicit Reshape(std::vector<int64_t> shape, CallSite site = CallSite::Here());
};

}  // namespace penstock::nn
