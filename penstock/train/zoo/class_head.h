#pragma once

#include "penstock/client/variable.h"
#include "penstock/train/nn/layer.h"

namespace penstock::zoo {

// The last layer of a model with many classes: logits = x weights' + biases, with a row of weights
// for each class, [classes, units], so that a sampled loss reads only the rows it needs.
class ClassHead : public nn::Layer {
 public:
  ClassHead(int64_t classes, int64_t units, std::string name = "softmax",
            CallSite site = CallSite::Here());

  // "softmax/weights" and "softmax/biases" in the graph, made when they are not there yet.
  struct Variables {
    Variable<float> weights, biases;
  };
  Variables VariablesIn(Graph& graph, CallSite site = CallSite::Here()) const;
};

}  // namespace penstock::zoo
