#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "penstock/compile/pipeline.h"
#include "penstock/graph/graph.h"

// Passes tested on text: a graph in the language of graph/text_graph.h goes in, and what comes out
// is written down again, briefly.

namespace penstock {

// One line a node:
//   z = AddV2(x, y:1, ^init)
//   c = float [2] {1, 2}                          a constant
//   y = _Fused(x, b) AddV2(0,1) Tanh(2) -> 3      a fused program: instructions, outputs
std::string Brief(const Graph& graph);

// Runs `pass` on the graph in `text`. What goes wrong is the answer.
std::string After(std::string_view text, const std::function<Status(Graph&)>& pass);

// Runs nodes with the kernels of this library.
Evaluator StandardEvaluator();

}  // namespace penstock
