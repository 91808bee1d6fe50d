#pragma once

#include <cstdint>
#include <optional>

#include "penstock/train/loss/reduction.h"

// Losses over so many classes that computing all logits is too dear: only the logits of the true
// classes and of some drawn ones are computed, and only their rows of the class table get
// gradients (which stay rows: see AddSparseGradients).

namespace penstock {

// How candidates are drawn.
enum class Sampler {
  kLogUniform,      // (log(k + 2) - log(k + 1)) / log(classes + 1): classes sorted by frequency
  kUniform,         // each class alike
  kLearnedUnigram,  // as often as each was a true class so far
};

// Drawn classes, and how often each class was to be expected among them.
struct Candidates {
  Output<int64_t> ids;               // [num_sampled]
  Output<float> expected_of_labels;  // in the shape of the labels
  Output<float> expected_of_ids;     // [num_sampled]
};

struct SamplerOptions {
  Sampler sampler = Sampler::kLogUniform;
  int64_t num_sampled = 64;  // for a whole batch
  bool unique = true;        // no class twice in one batch
  int64_t seed = 0;          // 0: other numbers each time the program runs
};
// Draws for a batch whose true classes are `labels`, [batch, num_true].
Candidates SampleCandidates(const Output<int64_t>& labels, int64_t num_classes,
                            const SamplerOptions& options = {}, CallSite site = CallSite::Here());

struct SampledLossOptions {
  Output<float> weights = {};
  Reduction reduction = Reduction::kMean;
  SamplerOptions sampling = {};
  std::optional<Candidates> candidates = {};  // these, instead of drawing
  // Whether a drawn class that is also a true one of its row is taken out. By default softmax does
  // and NCE does not.
  std::optional<bool> remove_accidental_hits = {};
  bool subtract_log_q = true;  // corrects logits for how often their class is drawn
};

// A loss for each row of `inputs` [batch, depth], whose true classes are `labels` [batch, num_true]
// or [batch]. `weights` [classes, depth] and `biases` [classes] are variables, read here. For
// training only: an evaluation takes all classes, MatMul(inputs, weights, {.transpose_b = true}) +
// biases. A label outside of [0, classes) fails the step.
Output<float> SampledSoftmaxLoss(const Output<float>& weights, const Output<float>& biases,
                                 const Output<int64_t>& labels, const Output<float>& inputs,
                                 const SampledLossOptions& options = {},
                                 CallSite site = CallSite::Here());
// The same as noise-contrastive estimation: tells the true classes from the drawn ones, each by a
// sigmoid.
Output<float> NceLoss(const Output<float>& weights, const Output<float>& biases,
                      const Output<int64_t>& labels, const Output<float>& inputs,
                      const SampledLossOptions& options = {}, CallSite site = CallSite::Here());

}  // namespace penstock
