#pragma once

#include "penstock/train/nn/compose.h"

namespace penstock::zoo {

struct InceptionV3Options {
  int64_t classes = 1000;
  float dropout = 0;  // before the dense layer; 0.2 in the paper
};

// Szegedy et al., "Rethinking the inception architecture for computer vision" (2015), layer for
// layer that of Keras, without the auxiliary classifier: [batch, 299, 299, 3] to logits. 23.85
// million parameters.
nn::Sequential InceptionV3(const InceptionV3Options& options = {});

}  // namespace penstock::zoo
