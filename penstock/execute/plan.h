#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/device/device.h"
#include "penstock/device/kernel.h"
#include "penstock/execute/frame_plan.h"
#include "penstock/graph/graph.h"
#include "penstock/graph/schedule.h"

namespace penstock {

// A node as the executor sees it: indices instead of names.
struct PlanNode {
  Kernel* kernel = nullptr;  // null: nothing to compute
  NodeId id = kNoNode;
  int32_t first_input = 0;  // into Plan::input_slots
  int32_t num_inputs = 0;
  int32_t first_output = 0;  // the slot of output 0
  int32_t num_outputs = 0;
  int32_t settled =
      -1;  // into Plan::settled_shapes, when the compiler has checked and settled the shapes
  int32_t first_clear = 0;  // into Plan::clear_slots: values that nobody reads after this node
  int32_t num_clear = 0;
  uint64_t last_use = 0;    // bit i: no node after this one reads input i
  bool placed = false;      // outputs lie in the arena
  bool reads_refs = false;  // some input is a variable to be read
  bool async = false;
  float cycles_per_element = 0;  // 0: cheap whatever the sizes
};

// Who waits for whom among nodes that run as they become ready.
struct PlanEdges {
  int32_t first_consumer = 0;  // into Plan::consumers
  int32_t num_consumers = 0;
  int32_t num_waits = 0;  // inputs and control inputs
};

// The memory of one running step, kept for the next one.
struct StepState;

// A compiled graph bound to one device: what a step runs. Immutable but for the pool of step
// states. Threads: all methods may be called concurrently.
class Plan {
 public:
  // Takes the graph. _Arg and _Retval nodes are its arguments and results by index.
  static Result<std::unique_ptr<Plan>> Make(Graph graph, Schedule schedule,
                                            const KernelRegistry& kernels,
                                            std::shared_ptr<Device> device);
  ~Plan();

  const Graph& graph() const { return graph_; }
  const Schedule& schedule() const { return schedule_; }
  Device& device() const { return *device_; }
  int num_args() const { return static_cast<int>(arg_slots_.size()); }
  int num_results() const { return static_cast<int>(result_slots_.size()); }
  const OutputInfo& arg(int i) const { return arg_info_[i]; }
  // The number of nodes that a step runs.
  int num_nodes() const { return static_cast<int>(nodes_.size()); }
  // Whether it has branches or loops.
  bool has_frames() const { return frames_ != nullptr; }

  std::unique_ptr<StepState> AcquireState();
  void ReleaseState(std::unique_ptr<StepState> state);

 private:
  friend class StepBase;
  friend class SequentialStep;
  friend class ParallelStep;
  friend class FrameStep;
  Plan(Graph graph, Schedule schedule, std::shared_ptr<Device> device);
  void PlaceValues();
  Status BuildNodes(const KernelRegistry& kernels);
  Status AddNode(NodeId id, const KernelRegistry& kernels);
  void PlaceInArena(const Node& node, PlanNode* plan_node);
  void FindLastUses();
  void FindConsumers();
  Status FindFlow();

  Graph graph_;
  Schedule schedule_;
  const std::shared_ptr<Device> device_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<PlanNode> nodes_;   // in order
  std::vector<PlanEdges> edges_;  // parallel to nodes_; empty when they run in sequence or frames
  std::vector<int32_t> input_slots_;
  std::vector<uint8_t> input_is_ref_read_;  // parallel to input_slots_
  std::vector<int32_t> clear_slots_;
  std::vector<int32_t> consumers_;
  std::vector<int32_t> roots_;
  std::vector<Shape> settled_shapes_;
  std::vector<int32_t> slot_readers_;  // per slot: how many inputs read it, results included
  std::vector<uint8_t>
      slot_is_transient_;  // emptied by the step: no constant, no place in the arena
  std::vector<std::pair<int32_t, Tensor>> constants_;
  std::vector<int32_t> arg_slots_;
  std::vector<OutputInfo> arg_info_;
  std::vector<int32_t> result_slots_;
  std::vector<uint8_t> result_is_ref_;
  struct Place {
    int32_t slot;
    int64_t offset;
    DType dtype;
    Shape shape;
  };
  std::vector<Place> places_;
  std::vector<int32_t> first_slot_;  // per graph node
  std::vector<int32_t> position_;    // of a graph node in nodes_; -1: an argument, result, constant
  std::unique_ptr<const FramePlan> frames_;
  int32_t num_slots_ = 0;

  Mutex mu_;
  std::vector<std::unique_ptr<StepState>> idle_ GUARDED_BY(mu_);
};

}  // namespace penstock
