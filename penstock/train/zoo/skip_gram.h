#pragma once

#include "penstock/train/nn/embedding.h"
#include "penstock/train/zoo/class_head.h"

namespace penstock::zoo {

struct SkipGramOptions {
  int64_t vocabulary = 50000;
  int64_t units = 128;
};

// Mikolov et al., "Efficient estimation of word representations in vector space" (2013): the
// embedding of a word is to tell the words around it. Train with a sampled loss over
// head().VariablesIn(graph): noise contrastive estimation or sampled softmax.
class SkipGram {
 public:
  explicit SkipGram(const SkipGramOptions& options = {}, CallSite site = CallSite::Here());

  // [batch, units] of [batch] words.
  Output<float> Embed(const Output<int32_t>& words, CallSite site = CallSite::Here()) const {
    return embedding_(words, nn::Mode::kInfer, site);
  }
  // The cosine between each of `words` and all of the vocabulary: [batch, vocabulary]. What the
  // nearest words are tells how training goes. Embed must have been called in the graph.
  Output<float> Similarity(const Output<int32_t>& words, CallSite site = CallSite::Here()) const;
  const ClassHead& head() const { return head_; }

 private:
  nn::Embedding embedding_;
  ClassHead head_;
  int64_t vocabulary_;
};

}  // namespace penstock::zoo
