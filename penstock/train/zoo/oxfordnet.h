#pragma once

#include "penstock/train/nn/compose.h"

namespace penstock::zoo {

struct OxfordNetOptions {
  int64_t classes = 1000;
  float dropout = 0;  // before both hidden dense layers; 0.5 in the paper
};

// Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition"
// (2014), configuration A, also called VGG-11: [batch, 224, 224, 3] to logits. 132.9 million
// parameters.
nn::Sequential OxfordNet(const OxfordNetOptions& options = {});

}  // namespace penstock::zoo
