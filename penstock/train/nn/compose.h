#pragma once

#include <initializer_list>
#include <vector>

#include "penstock/train/nn/layer.h"

// Layers made of layers. They have no name of their own: what is inside is named as if it stood
// alone.

namespace penstock::nn {

// One after the other. Functions count as layers:
//   nn::Sequential{nn::Conv2D{32, 3}, nn::BatchNorm{}, Relu, nn::Flatten{}, nn::Dense{10}}
class Sequential : public Layer {
 public:
  Sequential(std::initializer_list<Layer> layers, CallSite site = CallSite::Here());
  explicit Sequential(std::vector<Layer> layers, CallSite site = CallSite::Here());

  using Layer::operator();
  // For one that begins with an Embedding.
  Output<float> operator()(const Output<int32_t>& ids, Mode mode = Mode::kInfer,
                           CallSite site = CallSite::Here()) const {
    return Call(ids.graph(), {ids.ref()}, mode, site);
  }
  Output<float> operator()(const Output<int64_t>& ids, Mode mode = Mode::kInfer,
                           CallSite site = CallSite::Here()) const {
    return Call(ids.graph(), {ids.ref()}, mode, site);
  }
};

// x + layer(x), or shortcut(x) + layer(x) where the shapes differ.
class Residual : public Layer {
 public:
  explicit Residual(Layer layer, CallSite site = CallSite::Here());
  Residual(Layer layer, Layer shortcut, CallSite site = CallSite::Here());
};

// Each branch gets x; the results are joined along the last axis.
class Branches : public Layer {
 public:
  Branches(std::initializer_list<Layer> branches, CallSite site = CallSite::Here());
  explicit Branches(std::vector<Layer> branches, CallSite site = CallSite::Here());
};

}  // namespace penstock::nn
