#pragma once

#include <cstdint>

// The element-wise part of a long short-term memory without peepholes, for one row of n cells:
//   i, f, o = sigmoid(sums + bias), ci = tanh(sums + bias),
//   cs = ci i + cs_prev f, co = tanh(cs), h = o co.

namespace penstock::kernels {

// The four gates of a row, n floats each.
template <class Pointer>
struct LstmGateRow {
  Pointer i, ci, f, o;
};

struct LstmGatesRow {
  int64_t n;
  LstmGateRow<const float*> sums, bias;
  float forget_bias;  // added to the forget gate's
  float cell_clip;    // cs is cut to [-cell_clip, cell_clip]; 0: not
  const float* cs_prev;
  LstmGateRow<float*> gates;  // what becomes of the sums
  float *cs, *co, *h;
};
// No two of the arrays overlap.
void LstmGates(const LstmGatesRow& row);

struct LstmGatesGradientRow {
  int64_t n;
  LstmGateRow<const float*> gates;
  const float *co, *cs_prev;
  const float *by_cs, *by_h;  // derivatives by this step's cs and h
  LstmGateRow<float*> by_sums;
  float* by_cs_prev;  // may be by_cs; else nothing overlaps
};
void LstmGatesGradient(const LstmGatesGradientRow& row);

}  // namespace penstock::kernels
