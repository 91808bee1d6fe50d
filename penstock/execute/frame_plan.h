#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/graph/flow.h"

namespace penstock {

struct PlanNode;

// Where the nodes and values of a plan with branches or loops lie: each frame numbers its own, so
// that an iteration is a few small arrays. In the root frame the numbers are those of the plan.

// Who gets what from a node.
struct FlowEdge {
  int32_t consumer;  // index into the plan's nodes
  int32_t port;      // of the producer; -1: the consumer only waits
  int32_t input;     // of the consumer; -1 likewise
};

struct FlowNode {
  Flow flow = Flow::kNone;
  bool is_invariant = false;  // an Enter whose value is the same in all iterations
  bool forwards = false;      // passes its input on (Identity): no kernel need be called
  bool is_brief = false;      // on small inputs its kernel takes no longer than handing it out
  int32_t frame = 0;          // where it runs
  int32_t output_frame = 0;   // where its values go
  int32_t local = 0;          // its number in `frame`
  int32_t first_input = 0;    // its inputs' place in an iteration of `frame`
  int32_t first_output = 0;   // of its values in an iteration of `output_frame`, or among the
                              // invariants of that frame
  int32_t first_edge = 0;
  int32_t num_edges = 0;
  int32_t at_hand = -1;              // of a merge: an input that is there from the start
  int32_t exit = -1;                 // of an Exit: its number in Frame::exits
  const Tensor* constant = nullptr;  // the value of a constant that waits for something
};

// What an iteration knows of a node.
struct FlowCount {
  int32_t waits = 0;     // inputs still to come; a merge waits for one of its values
  int32_t arrived = -1;  // of a merge: the input that came first
  int32_t num_dead = 0;  // of a merge: inputs that are dead
  bool is_dead = false;  // some input is dead
};

// Where an input of a node of a frame is found.
struct FlowInput {
  enum class Place : uint8_t { kPlan, kIteration, kInvariant } place;
  int32_t index;
};

struct FramePlan {
  // All that iterations of one loop have in common.
  struct Frame {
    std::string name;
    int32_t parent = -1;
    int32_t index_in_parent = 0;  // among the loops directly inside the parent
    int32_t num_children = 0;
    int64_t parallel_iterations = 1;
    int32_t num_enters = 0;
    int32_t num_slots = 0;
    std::vector<int32_t> invariants;  // the Enter nodes of values that all iterations share
    bool merges_invariants = false;   // some merge reads one of them
    std::vector<int32_t> exits;       // the Exit nodes
    std::vector<int32_t> starters;    // nodes that wait for invariants alone
    std::vector<FlowInput> inputs;
    std::vector<FlowCount> first_counts;  // per node, at the start of the first iteration
    std::vector<FlowCount> counts;        // of the others, where invariants are at hand
    std::vector<int32_t> readers;         // per slot
  };
  std::vector<Frame> frames;
  std::vector<FlowNode> nodes;  // parallel to the plan's
  std::vector<FlowEdge> edges;
  std::vector<int32_t> roots;  // nodes that wait for nothing

  // What the maker of a FramePlan gives: the plan's own numbering.
  struct Source {
    const Graph& graph;
    const std::vector<NodeId>& order;
    const std::vector<PlanNode>& nodes;
    const std::vector<int32_t>& position;  // of each graph node among `nodes`, or -1
    const std::vector<int32_t>& input_slots;
    const std::vector<int32_t>& slot_readers;
    int32_t num_slots;
  };
  static Result<FramePlan> Make(const Source& source);
};

}  // namespace penstock
