#pragma once

#include "penstock/train/nn/compose.h"

namespace penstock::zoo {

struct GoogleNetOptions {
  int64_t classes = 1000;
  float dropout = 0;  // before the dense layer; 0.4 in the paper
};

// Szegedy et al., "Going deeper with convolutions" (2014), also called Inception v1, without the
// auxiliary classifiers and local normalisation: [batch, 224, 224, 3] to logits. 7.0 million
// parameters.
nn::Sequential GoogleNet(const GoogleNetOptions& options = {});

}  // namespace penstock::zoo
