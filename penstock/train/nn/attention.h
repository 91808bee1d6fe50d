#pragma once

#include "penstock/train/nn/layer.h"

// Attention and the block made of it, over [batch, time, features].

namespace penstock::nn {

struct AttentionOptions {
  bool causal = false;  // a place sees itself and earlier ones only
  bool bias = true;
  float dropout = 0;      // of the weights, in training
  int64_t value_dim = 0;  // of a head; 0: as the keys'
  std::string name = {};  // in place of "multi_head_attention"
};

// For each of `heads`, softmax(q k' / sqrt(key_dim)) v of projections of the inputs; the heads are
// joined and projected to the features of the query. Variables are those of Keras: "query/kernel"
// [features, heads, key_dim], "query/bias", and so on for key, value and "attention_output".
class MultiHeadAttention : public Layer {
 public:
  MultiHeadAttention(int64_t heads, int64_t key_dim, AttentionOptions options = {},
                     CallSite site = CallSite::Here());

  using Layer::operator();  // of x on itself
  struct Inputs {
    Output<float> query;             // [batch, time, features]
    Output<float> value = {};        // [batch, places, features]; none: the query
    Output<float> key = {};          // as the value; none: the value
    Output<bool> key_is_there = {};  // [batch, places], false at padding; none: all are
  };
  Output<float> operator()(const Inputs& inputs, Mode mode = Mode::kInfer,
                           CallSite site = CallSite::Here()) const;
};

struct TransformerOptions {
  bool causal = false;
  float dropout = 0;           // of both parts' results, in training
  bool norm_first = true;      // normalises the input of each part (as GPT-2), not the sum
  Activation activation = {};  // of the feed-forward part; none: Gelu
  float epsilon = 1e-5f;       // of the normalisations
  std::string name = {};       // in place of "transformer_block"
};

// Attention of x on itself, then two dense layers with `feed_forward` units between, each with a
// residual connection and a layer normalisation.
class TransformerBlock : public Layer {
 public:
  TransformerBlock(int64_t heads, int64_t feed_forward, TransformerOptions options = {},
                   CallSite site = CallSite::Here());

  using Layer::operator();
  // `is_there` is [batch, time], false at padding.
  Output<float> operator()(const Output<float>& x, const Output<bool>& is_there,
                           Mode mode = Mode::kInfer, CallSite site = CallSite::Here()) const;
};

}  // namespace penstock::nn
