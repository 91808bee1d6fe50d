#pragma once

#include "penstock/train/nn/compose.h"

namespace penstock::zoo {

struct ResNetOptions {
  int64_t classes = 1000;
  float l2 = 0;  // weight decay of the convolutions and the dense layer
};

// He et al., "Deep residual learning for image recognition" (2015), with the stride in the 3 x 3
// convolutions (v1.5, as PyTorch's): [batch, 224, 224, 3] to logits. 25.56 million trainable
// parameters.
nn::Sequential ResNet50(const ResNetOptions& options = {});

}  // namespace penstock::zoo
