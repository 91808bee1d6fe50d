#pragma once

#include <cstdint>
#include <string>

#include "penstock/core/dtype.h"
#include "penstock/train/nn/layer.h"

// What a model is made of, as a table for a person.

namespace penstock::nn {

struct ParameterCount {
  int64_t trainable = 0;  // numbers that optimizers change
  int64_t other = 0;      // moving averages and the like
  int64_t bytes = 0;      // of both

  int64_t total() const { return trainable + other; }
};
// Of all variables of the graph.
ParameterCount CountParameters(const Graph& graph);

// One line for each layer that was called, in that order, and one for each variable that belongs to
// none:
//
//   Layer                        Output           Parameters
//   conv2d (Conv2D)              [?,26,26,32]            320
//   ...
//   Total: 34,826 parameters (136.0 KiB), 34,826 trainable
std::string Summary(const Graph& graph);
// The same for a model that is called with an input of that shape in a graph of its own.
std::string Summary(const Layer& model, const Shape& input, DType dtype = DType::kFloat);

}  // namespace penstock::nn
