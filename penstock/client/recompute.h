#pragma once

#include <tuple>
#include <utility>

#include "penstock/client/op_function.h"
#include "penstock/graph/recompute.h"

namespace penstock {

// A function whose inner values are not kept for the backward pass, but computed a second time
// there from its arguments: less memory for more time.
//
//   for (auto& block : blocks) x = Recompute(block)(x);
//
// Outer outputs and variables may be used inside, and variables made. Random numbers and what reads
// variables are kept, so that the second time gives the same. Segments do not nest: what an inner
// Recompute returns is kept by the outer.
template <class F>
auto Recompute(F f) {
  return [f](const auto&... args) mutable {
    Graph& graph = client_internal::GraphOf(std::get<0>(std::tie(args...)));
    const NodeId first = graph.num_nodes();
    auto results = f(args...);
    MarkSegment(graph, first);
    return results;
  };
}

}  // namespace penstock
