#pragma once

#include <cstdint>

namespace penstock::kernels {

enum class Activation { kNone, kRelu, kRelu6, kElu, kTanh, kSigmoid, kLeakyRelu };

// What is done to each sum of a convolution or product before it is stored.
struct Epilogue {
  bool bias = false;    // a value for each output channel, or column, is added
  bool addend = false;  // then an element of a tensor of the output's shape
  Activation activation = Activation::kNone;
  float alpha = 0;  // the slope of kLeakyRelu below zero

  bool none() const { return !bias && !addend && activation == Activation::kNone; }
  bool operator==(const Epilogue&) const = default;
};

// Finishes `rows` rows of `columns` sums each on the calling thread. Rows of the sums and of the
// addend lie `step` elements apart.
void ApplyEpilogue(const Epilogue& epilogue, int64_t rows, int64_t columns, float* sums,
                   int64_t step, const float* bias, const float* addend);

}  // namespace penstock::kernels
