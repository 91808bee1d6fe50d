#pragma once

#include "penstock/train/nn/compose.h"

namespace penstock::zoo {

struct AlexNetOptions {
  int64_t classes = 1000;
  float dropout = 0;  // before both hidden dense layers; 0.5 in the paper
};

// Krizhevsky, "One weird trick for parallelizing convolutional neural networks" (2014), the form
// for one device: [batch, 224, 224, 3] to logits. 61.1 million parameters.
nn::Sequential AlexNet(const AlexNetOptions& options = {});

}  // namespace penstock::zoo
