#pragma once

#include "penstock/train/nn/initializers.h"
#include "penstock/train/nn/layer.h"

namespace penstock::nn {

struct DenseOptions {
  bool bias = true;
  Initializer kernel = GlorotUniform();
  Initializer bias_value = Zeros();
  float l2 = 0;           // weight decay of the kernel: a penalty of l2 * sum(kernel^2)
  std::string name = {};  // in place of "dense"
};

// y = activation(x kernel + bias) over the last axis of x, whose extent must be known. Further axes
// of x stay; the activation sees them as rows of a matrix.
class Dense : public Layer {
 public:
  explicit Dense(int64_t units, Activation activation = {}, DenseOptions options = {},
                 CallSite site = CallSite::Here());
};

}  // namespace penstock::nn
