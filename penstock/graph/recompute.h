#pragma once

#include <map>
#include <string>
#include <vector>

#include "penstock/graph/scope.h"

// Memory for time: the values inside of a marked segment are not kept for its derivative, which
// computes them again from what enters the segment.

namespace penstock {

// On a node: the segment that it belongs to. On an Identity that a derivative reads: it waits for
// the gradient that it is controlled by, also when it moves into a function.
inline constexpr char kRecomputeAttr[] = "_recompute";

// Marks the nodes from `first` on, but for those that are in a segment already.
void MarkSegment(Graph& graph, NodeId first);
// Whether the node is one that holds values back until a gradient has arrived.
bool HoldsBack(const Node& node);

// Notes which nodes of a derivative belong to which segment, and then lets them read copies of the
// segment's nodes. The copies read what enters the segment once the first gradient has come to it:
// so they run late, and are not taken for the nodes they were copied from.
// What has effects or depends on state (random numbers, variables) is not run again: its values are
// kept.
class Recomputation {
 public:
  explicit Recomputation(Graph& graph) : graph_(graph) {}

  // The nodes [first, end) are the derivative of `node`, for the gradients `arrived`.
  void Note(NodeId node, const std::vector<Expr>& arrived, NodeId first, NodeId end);
  Status Apply();

 private:
  struct Segment {
    OutputRef arrived;            // the first gradient that came to it
    std::vector<NodeId> readers;  // nodes of its derivative
    NodeId ready = kNoNode;       // has run when `arrived` is there
    std::map<NodeId, NodeId> copies;
    std::map<std::pair<NodeId, int32_t>, OutputRef> entering;
  };

  bool IsInside(const std::string& name, NodeId id) const;
  Result<OutputRef> Late(const std::string& name, Segment& segment, OutputRef value);
  Result<OutputRef> HeldBack(Segment& segment, OutputRef value);
  Status CopyNodes(const std::string& name, Segment& segment, NodeId last);

  Graph& graph_;
  std::map<std::string, Segment> segments_;
};

}  // namespace penstock
