#pragma once

#include "penstock/train/nn/compose.h"

namespace penstock::zoo {

struct TransformerLmOptions {
  int64_t vocabulary = 256;
  int64_t max_length = 256;  // of a sequence
  int64_t features = 128;
  int64_t heads = 4;
  int layers = 4;
  float dropout = 0.1f;
};

// A small language model in the form of GPT-2: ids [batch, time] to logits [batch, time,
// vocabulary] of what comes next.
nn::Sequential TransformerLm(const TransformerLmOptions& options = {});

}  // namespace penstock::zoo
