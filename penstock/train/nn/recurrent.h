#pragma once

#include <vector>

#include "penstock/train/nn/initializers.h"
#include "penstock/train/nn/layer.h"

// Layers that go through time, over [batch, time, features].

namespace penstock::nn {

struct RecurrentOptions {
  bool sequences = false;   // all outputs, [batch, time, units], not the last alone, [batch, units]
  bool time_major = false;  // [time, batch, ...] in and out: saves two transposes
  bool reversed = false;    // from the end to the beginning; a sequence comes out in x's order
  Initializer kernel = GlorotUniform();
  Initializer recurrent_kernel = Orthogonal();
  float l2 = 0;  // weight decay of both kernels
  std::string name = {};
};

// LSTM and GRU.
class Recurrent : public Layer {
 public:
  struct Start {
    std::vector<Output<float>> state = {};  // [batch, units] each; none: zeros
    Output<int32_t> lengths = {};           // [batch]; none: all of x counts
  };
  struct Steps {
    Output<float> output;              // as the options say
    std::vector<Output<float>> state;  // after the last step, to go on from
  };

  // Goes on from a state, or only so far as `lengths` says: outputs after that are zero, and the
  // state is the one at that time.
  Steps Run(const Output<float>& x, const Start& start, Mode mode = Mode::kInfer,
            CallSite site = CallSite::Here()) const;

 protected:
  using Layer::Layer;
};

// Variables "lstm/lstm_cell/kernel" [features, 4 units], "recurrent_kernel" [units, 4 units] and
// "bias", with the gates in Keras' order: input, forget, cell, output. The state is h, then c.
class LSTM : public Recurrent {
 public:
  explicit LSTM(int64_t units, RecurrentOptions options = {}, CallSite site = CallSite::Here());
};

// Variables "gru/gru_cell/kernel" [features, 3 units], "recurrent_kernel" and "bias" [2, 3 units],
// with the gates in Keras' order: update, reset, candidate. The reset gate works on the product, as
// in Keras and PyTorch. The state is h.
class GRU : public Recurrent {
 public:
  explicit GRU(int64_t units, RecurrentOptions options = {}, CallSite site = CallSite::Here());
};

enum class Merge { kConcat, kSum };

// A layer and its mirror image with variables of its own; their outputs are joined. Variables begin
// with "bidirectional/forward_lstm" and "bidirectional/backward_lstm".
class Bidirectional : public Layer {
 public:
  explicit Bidirectional(const Recurrent& layer, Merge merge = Merge::kConcat,
                         CallSite site = CallSite::Here());
  // Steps of each batch entry that count.
  Output<float> Run(const Output<float>& x, const Output<int32_t>& lengths,
                    Mode mode = Mode::kInfer, CallSite site = CallSite::Here()) const;
};

}  // namespace penstock::nn
