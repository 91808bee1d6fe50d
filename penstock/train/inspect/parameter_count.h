#pragma once

#include <cstdint>
#include <string>

#include "penstock/graph/graph.h"

namespace penstock {

// How many numbers a model has. A port of a model that has other counts is not the same model.
struct ParameterCount {
  int64_t trainable = 0;
  int64_t all = 0;    // slots of optimizers and counters included
  int64_t bytes = 0;  // of all

  // "1,234 parameters are trained; with all state 3,702 numbers, 14.5 kB".
  std::string ToString() const;
};
// Of the variables made so far. Throws when a shape is not known or the count is too large.
ParameterCount CountParameters(const Graph& graph);

}  // namespace penstock
