#pragma once

#include "penstock/train/nn/compose.h"

namespace penstock::zoo {

struct OverfeatOptions {
  int64_t classes = 1000;
  float dropout = 0;  // before both hidden dense layers; 0.5 in the paper
};

// Sermanet et al., "OverFeat" (2013), the fast model: [batch, 231, 231, 3] to logits. 145.9 million
// parameters.
nn::Sequential Overfeat(const OverfeatOptions& options = {});

}  // namespace penstock::zoo
