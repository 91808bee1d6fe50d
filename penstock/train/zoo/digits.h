#pragma once

#include "penstock/train/nn/compose.h"

// Small models for small images.

namespace penstock::zoo {

// Dense layers with Relu between: [batch, features] to logits.
nn::Sequential Mlp(const std::vector<int64_t>& hidden, int64_t classes = 10);

// For the 8 x 8 digits of UCI's optdigits, whose pixels are scaled to [0, 1]: [batch, 64] and
// [batch, 8, 8, 1] to 10 logits.
nn::Sequential DigitsMlp();
nn::Sequential DigitsCnn(float dropout = 0.3f);

// LeNet's form as TensorFlow's tutorials have it: [batch, 28, 28, 1] to 10 logits. 1.66 million
// parameters.
nn::Sequential MnistCnn(float dropout = 0);

// For Fashion-MNIST: two stages of two convolutions with batch normalisation; [batch, 28, 28, 1] to
// 10 logits.
nn::Sequential FashionCnn(float dropout = 0.3f);

}  // namespace penstock::zoo
