#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "penstock/train/inspect/node_values.h"

namespace penstock {

// A step that can be run again from where it began.
struct Replay {
  Session& session;
  const Graph& graph;
  std::vector<NodeId> targets;  // the loss and the training step
  const FeedList& feeds;
  std::function<void()> reset;  // makes the state what it was before the step
};

// A value that is not finite.
struct BadValue {
  OutputRef ref = {};
  bool is_fed = false;
  NonFinite count = {};
  int64_t num_elements = 0;
};

using ValueSet = std::set<std::pair<NodeId, int32_t>>;
// All values of a step that are not finite.
ValueSet BadValues(const Replay& replay);
// The first value that is not finite and not in `known`; none: ref.node is kNoNode.
BadValue FirstBadValue(const Replay& replay, const ValueSet& known);
// True when the node reads state: then the step before it is to blame.
bool ReadsState(const Graph& graph, NodeId node);
// The first node of the step that takes the variable's handle and gives no value; kNoNode if none
// does.
NodeId UpdateOf(const Replay& replay, NodeId handle);

// "that of {{node Log}} = Log (model.cc:42): 3 inf and 0 nan among 320; input 0 lies in [0, 0.9]".
std::string Describe(const Replay& replay, const BadValue& bad);

}  // namespace penstock
