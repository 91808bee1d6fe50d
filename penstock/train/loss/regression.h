#pragma once

#include "penstock/train/loss/reduction.h"

// How far predictions are from targets of the same shape, element by element.

namespace penstock {

// (p - t)^2.
Output<float> MeanSquaredError(const Output<float>& predictions, const Output<float>& targets,
                               const LossOptions& options = {}, CallSite site = CallSite::Here());
// |p - t|.
Output<float> MeanAbsoluteError(const Output<float>& predictions, const Output<float>& targets,
                                const LossOptions& options = {}, CallSite site = CallSite::Here());
// 100 |p - t| / max(|t|, 1e-7).
Output<float> MeanAbsolutePercentageError(const Output<float>& predictions,
                                          const Output<float>& targets,
                                          const LossOptions& options = {},
                                          CallSite site = CallSite::Here());
// (log(1 + p) - log(1 + t))^2, of values that are not negative.
Output<float> MeanSquaredLogarithmicError(const Output<float>& predictions,
                                          const Output<float>& targets,
                                          const LossOptions& options = {},
                                          CallSite site = CallSite::Here());

struct HuberOptions {
  Output<float> weights = {};
  Reduction reduction = Reduction::kMean;
  float delta = 1;  // where the parabola goes over into lines
};
// e^2 / 2 for errors up to delta, beyond that a line: delta e - delta^2 / 2.
Output<float> HuberLoss(const Output<float>& predictions, const Output<float>& targets,
                        const HuberOptions& options = {}, CallSite site = CallSite::Here());
// log(cosh(p - t)): like the square for small errors, like the distance for large ones.
Output<float> LogCoshLoss(const Output<float>& predictions, const Output<float>& targets,
                          const LossOptions& options = {}, CallSite site = CallSite::Here());

// p - t log(p): of counts t, given their expected number p.
Output<float> PoissonLoss(const Output<float>& predictions, const Output<float>& targets,
                          const LossOptions& options = {}, CallSite site = CallSite::Here());
// exp(l) - t l: the same, given the logarithm l of the expected number.
Output<float> LogPoissonLoss(const Output<float>& log_predictions, const Output<float>& targets,
                             const LossOptions& options = {}, CallSite site = CallSite::Here());

// 1 - cos of the angle between the vectors along the last axis: a loss for each pair of vectors.
Output<float> CosineDistance(const Output<float>& predictions, const Output<float>& targets,
                             const LossOptions& options = {}, CallSite site = CallSite::Here());

// ---- of embeddings: vectors along the last axis ----

struct MarginOptions {
  Output<float> weights = {};
  Reduction reduction = Reduction::kMean;
  float margin = 1;
};
// Pulls pairs with label 1 together and pushes those with label 0 apart up to the margin:
// y d^2 + (1 - y) max(margin - d, 0)^2, with d the distance of a and b.
Output<float> ContrastiveLoss(const Output<float>& a, const Output<float>& b,
                              const Output<float>& labels, const MarginOptions& options = {},
                              CallSite site = CallSite::Here());
// max(|anchor - positive|^2 - |anchor - negative|^2 + margin, 0).
Output<float> TripletLoss(const Output<float>& anchor, const Output<float>& positive,
                          const Output<float>& negative, const MarginOptions& options = {},
                          CallSite site = CallSite::Here());

}  // namespace penstock
