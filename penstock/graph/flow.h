#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

// How an op directs values through branches and loops. Executors and passes ask for this instead of
// op names; the reference forms (RefSwitch, ...) count as the plain ones.
enum class Flow : uint8_t {
  kNone,
  kSwitch,         // sends its value to one of two outputs, the other is dead
  kMerge,          // passes on the first live value that arrives
  kEnter,          // brings a value into a loop
  kExit,           // takes a value out of a loop
  kNextIteration,  // hands a value to the next iteration
  kLoopCond,
  kControlTrigger,  // runs even if what it waits for is dead
};
Flow FlowOf(const OpInfo& op);

// What two shapes agree on: all that is known of a value that has the one or the other.
Shape CommonShape(const Shape& a, const Shape& b);

// The loops of a graph. Frame 0 is what lies outside of all loops.
struct LoopFrame {
  std::string name;
  int32_t parent = -1;
  int32_t depth = 0;
  int64_t parallel_iterations = 1;
};
struct FrameMap {
  std::vector<LoopFrame> frames;
  std::vector<int32_t> of_node;     // per node: the frame it runs in
  std::vector<int32_t> of_outputs;  // per node: the frame its values go to
};

// Finds out which loop each node of `order` (topological, back edges apart) belongs to.
// InvalidArgument names a node whose inputs come from different loops.
Result<FrameMap> FindFrames(const Graph& graph, const std::vector<NodeId>& order);

}  // namespace penstock
