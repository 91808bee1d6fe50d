#pragma once

#include <vector>

#include "penstock/train/nn/embedding.h"
#include "penstock/train/nn/recurrent.h"
#include "penstock/train/zoo/class_head.h"

namespace penstock::zoo {

struct LstmLmOptions {
  int64_t vocabulary = 10000;
  int64_t units = 512;  // of the embedding and of each layer
  int layers = 1;
  float dropout = 0;        // of the embedding and between layers, in training
  bool time_major = false;  // ids are [time, batch]
};

// A language model: the embedding of each word, LSTM layers, and a row of weights for each word
// that may come next.
//
//   zoo::LstmLm model({.vocabulary = 40000});
//   auto hidden = model.Hidden(words, nn::Mode::kTrain).rows;
//   auto logits = model.head()(hidden);               // for the full softmax
//   auto [weights, biases] = model.head().VariablesIn(g);  // for a sampled one
class LstmLm {
 public:
  explicit LstmLm(const LstmLmOptions& options = {}, CallSite site = CallSite::Here());

  struct Result {
    Output<float> rows;                             // [batch * time, units], in the order of ids
    std::vector<std::vector<Output<float>>> state;  // of each layer, to go on from
  };
  // From ids [batch, time]. `state` is what an earlier call returned, or empty: zeros.
  Result Hidden(const Output<int32_t>& ids, nn::Mode mode = nn::Mode::kInfer,
                const std::vector<std::vector<Output<float>>>& state = {},
                CallSite site = CallSite::Here()) const;
  const ClassHead& head() const { return head_; }
  const LstmLmOptions& options() const { return options_; }

 private:
  LstmLmOptions options_;
  nn::Embedding embedding_;
  std::vector<nn::LSTM> layers_;
  std::vector<nn::Layer> dropouts_;
  ClassHead head_;
};

}  // namespace penstock::zoo
