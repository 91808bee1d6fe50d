#pragma once

#include <functional>
#include <vector>

#include "penstock/train/loop/feeds.h"

// What each node of a step computes, one after the other.

namespace penstock {

// The nodes that `targets` need when these outputs are fed, each after its inputs.
Result<std::vector<NodeId>> NodesNeededFor(const Graph& graph, const std::vector<NodeId>& targets,
                                           const FeedList& feeds);
// The values that `targets` need when these outputs are fed, each after those it is made of. Left
// out are values inside of loops made of primitives, which a step cannot return, references, and
// what is no tensor of numbers.
Result<std::vector<OutputRef>> ValuesNeededFor(const Graph& graph,
                                               const std::vector<NodeId>& targets,
                                               const FeedList& feeds);

// Computes `values` and shows each to `visit` in their order, until it returns false. They are
// computed in parts, so that they need not be in memory together; `reset` is called before each
// part to undo the effects of the last. Values that cannot be had (of a branch not taken) are left
// out.
void VisitValues(Session& session, const FeedList& feeds, const std::vector<OutputRef>& values,
                 const std::function<void()>& reset,
                 const std::function<bool(OutputRef, const Tensor&)>& visit);

// How many elements are not numbers or infinite.
struct NonFinite {
  int64_t num_nan = 0;
  int64_t num_inf = 0;

  bool any() const { return num_nan + num_inf > 0; }
};
// None for types that have only finite values.
NonFinite CountNonFinite(const Tensor& tensor);

// Elements of a tensor of any real type as doubles; none for other types.
std::vector<double> AsDoubles(const Tensor& tensor);

}  // namespace penstock
