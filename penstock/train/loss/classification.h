#pragma once

#include <cstdint>
#include <optional>

#include "penstock/train/loss/reduction.h"

// How far predicted classes are from the true ones. Logits are scores of any size, before softmax
// or sigmoid.

namespace penstock {

struct CrossEntropyOptions {
  Output<float> weights = {};
  Reduction reduction = Reduction::kMean;
  // Takes this share of each label and gives it to all classes alike; from 0 to 1.
  float label_smoothing = 0;
};
// A loss for each row of logits [..., classes], whose labels are the probabilities of the classes,
// [..., classes].
Output<float> SoftmaxCrossEntropy(const Output<float>& logits, const Output<float>& labels,
                                  const CrossEntropyOptions& options = {},
                                  CallSite site = CallSite::Here());

struct SparseCrossEntropyOptions {
  Output<float> weights = {};
  Reduction reduction = Reduction::kMean;
  float label_smoothing = 0;
  // Rows of this label do not count (padding): their weight is zero. Then take the mean with
  // Reduction::kMeanOverNonzero.
  std::optional<int64_t> ignored_label = {};
};
// The same for labels that are numbers of classes, [...]. A label outside of [0, classes) fails the
// step.
Output<float> SparseSoftmaxCrossEntropy(const Output<float>& logits, const Output<int32_t>& labels,
                                        const SparseCrossEntropyOptions& options = {},
                                        CallSite site = CallSite::Here());
Output<float> SparseSoftmaxCrossEntropy(const Output<float>& logits, const Output<int64_t>& labels,
                                        const SparseCrossEntropyOptions& options = {},
                                        CallSite site = CallSite::Here());

struct SigmoidCrossEntropyOptions {
  Output<float> weights = {};
  Reduction reduction = Reduction::kMean;
  float label_smoothing = 0;  // towards 1/2
  float positive_weight = 1;  // what a missed positive costs, in false alarms
};
// For each logit alone, whose label is the probability (0 to 1) that it is true.
Output<float> SigmoidCrossEntropy(const Output<float>& logits, const Output<float>& labels,
                                  const SigmoidCrossEntropyOptions& options = {},
                                  CallSite site = CallSite::Here());

struct FocalOptions {
  Output<float> weights = {};
  Reduction reduction = Reduction::kMean;
  float gamma = 2;      // how much less an easy example counts
  float alpha = 0.25f;  // the weight of positives; that of negatives is the rest to 1
};
// Sigmoid cross-entropy, scaled by (1 - probability of the label)^gamma.
Output<float> SigmoidFocalCrossEntropy(const Output<float>& logits, const Output<float>& labels,
                                       const FocalOptions& options = {},
                                       CallSite site = CallSite::Here());

// max(0, 1 - s logit), s = 1 for label 1 and -1 for label 0.
Output<float> HingeLoss(const Output<float>& logits, const Output<float>& labels,
                        const LossOptions& options = {}, CallSite site = CallSite::Here());
Output<float> SquaredHingeLoss(const Output<float>& logits, const Output<float>& labels,
                               const LossOptions& options = {}, CallSite site = CallSite::Here());
// max(0, 1 + best logit of the other classes - logit of the class), for labels [..., classes] that
// are 1 at the class and 0 elsewhere.
Output<float> CategoricalHingeLoss(const Output<float>& logits, const Output<float>& labels,
                                   const LossOptions& options = {},
                                   CallSite site = CallSite::Here());

// The sum of t log(t / p) along the last axis; both are probabilities.
Output<float> KlDivergence(const Output<float>& predictions, const Output<float>& targets,
                           const LossOptions& options = {}, CallSite site = CallSite::Here());

struct CtcOptions {
  Output<float> weights = {};
  Reduction reduction = Reduction::kMean;
  // A sequence whose labels do not fit into its length has loss 0, rather than being an error.
  bool ignore_too_long = false;
};
// Connectionist temporal classification: a loss for each sequence of logits [time, batch, classes],
// of which `logit_lengths` steps count, against labels [batch, longest], of which `label_lengths`
// count. The last class is the blank.
Output<float> CtcLoss(const Output<float>& logits, const Output<int32_t>& labels,
                      const Output<int32_t>& logit_lengths, const Output<int32_t>& label_lengths,
                      const CtcOptions& options = {}, CallSite site = CallSite::Here());

}  // namespace penstock
