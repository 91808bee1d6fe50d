#pragma once

#include "penstock/client/output.h"
#include "penstock/train/loss/reduction.h"

namespace penstock {

// Terms that keep parameters small:  l1 * sum |w|  +  l2 * sum w^2.
//
//   auto loss = MeanSquaredError(y, t) + Regularizer{.l2 = 1e-4f}(w);
//   Regularizer{.l2 = 1e-4f}.Add(w);     // or: Minimize adds it to the loss
struct Regularizer {
  float l1 = 0;
  float l2 = 0;

  Output<float> operator()(const Output<float>& w, CallSite site = CallSite::Here()) const;
  // Notes the term among the graph's penalties, as layers do.
  void Add(const Output<float>& w, CallSite site = CallSite::Here()) const;
};

}  // namespace penstock
