#include "penstock/execute/frame_plan.h"

#include <utility>

#include "penstock/execute/plan.h"

namespace penstock {
namespace {

bool BoolAttr(const Node& node, std::string_view name) {
  const AttrValue* value = FindAttr(node.attrs, name);
  const bool* set = value == nullptr ? nullptr : value->Get<bool>();
  return set != nullptr && *set;
}

class Maker {
 public:
  Maker(const FramePlan::Source& source, FrameMap map) : source_(source), map_(std::move(map)) {}

  Result<FramePlan> Make() {
    AddFrames();
    for (size_t n = 0; n < source_.nodes.size(); ++n) AddNode(static_cast<int32_t>(n));
    for (size_t n = 0; n < source_.nodes.size(); ++n) AddInputs(static_cast<int32_t>(n));
    AddEdges();
    TRY(CheckResults());
    return std::move(plan_);
  }

 private:
  void AddFrames() {
    for (const LoopFrame& loop : map_.frames) {
      FramePlan::Frame& frame = plan_.frames.emplace_back();
      frame.name = loop.name;
      frame.parent = loop.parent;
      frame.parallel_iterations = loop.parallel_iterations;
      if (loop.parent >= 0) frame.index_in_parent = plan_.frames[loop.parent].num_children++;
    }
    plan_.frames[0].num_slots = source_.num_slots;
    plan_.frames[0].readers = source_.slot_readers;
  }

  void AddNode(int32_t n) {
    const PlanNode& node = source_.nodes[n];
    FlowNode& flow = plan_.nodes.emplace_back();
    flow.flow = FlowOf(*source_.graph.node(node.id).op);
    flow.frame = map_.of_node[node.id];
    flow.output_frame = map_.of_outputs[node.id];
    const Node& graph_node = source_.graph.node(node.id);
    flow.forwards = graph_node.op_name() == "Identity";
    flow.is_brief = graph_node.op->traits.elementwise && !node.reads_refs && !node.async;
    if (graph_node.op_name() == "Const") flow.constant = ConstantValue(source_.graph, {node.id, 0});
    FramePlan::Frame& frame = plan_.frames[flow.frame];
    flow.local = static_cast<int32_t>(frame.counts.size());
    frame.counts.emplace_back();
    frame.first_counts.emplace_back();
    FramePlan::Frame& target = plan_.frames[flow.output_frame];
    if (flow.flow == Flow::kExit) {
      flow.exit = static_cast<int32_t>(frame.exits.size());
      frame.exits.push_back(n);
    }
    if (flow.flow == Flow::kEnter) {
      ++target.num_enters;
      flow.is_invariant = BoolAttr(graph_node, "is_constant");
    }
    if (flow.is_invariant) {
      flow.first_output = static_cast<int32_t>(target.invariants.size());
      target.invariants.push_back(n);
    } else if (flow.output_frame == 0) {
      flow.first_output = node.first_output;
    } else {
      flow.first_output = target.num_slots;
      target.num_slots += node.num_outputs;
      target.readers.resize(static_cast<size_t>(target.num_slots), 0);
    }
  }

  // Says where the node finds its inputs and counts what it waits for.
  void AddInputs(int32_t n) {
    const PlanNode& node = source_.nodes[n];
    const Node& graph_node = source_.graph.node(node.id);
    FlowNode& flow = plan_.nodes[n];
    FramePlan::Frame& frame = plan_.frames[flow.frame];
    flow.first_input = static_cast<int32_t>(frame.inputs.size());
    const bool merges = flow.flow == Flow::kMerge;
    int32_t invariants = 0;
    int32_t values = 0;
    for (int32_t i = 0; i < node.num_inputs; ++i) {
      const int32_t slot = source_.input_slots[node.first_input + i];
      const int32_t producer = source_.position[graph_node.inputs[i].node];
      if (producer < 0) {
        frame.inputs.push_back({FlowInput::Place::kPlan, slot});
        flow.at_hand = i;
        continue;
      }
      const FlowNode& from = plan_.nodes[producer];
      const int32_t at = from.first_output + graph_node.inputs[i].port;
      ++values;
      if (from.is_invariant) {
        ++invariants;
        frame.merges_invariants |= merges;
        frame.inputs.push_back({FlowInput::Place::kInvariant, at});
      } else {
        frame.inputs.push_back({FlowInput::Place::kIteration, at});
        if (flow.frame != 0) ++frame.readers[at];
      }
    }
    int32_t controls = 0;
    for (const NodeId control : graph_node.control_inputs) {
      if (source_.position[control] < 0) continue;
      ++controls;
      if (plan_.nodes[source_.position[control]].is_invariant) ++invariants;
    }
    // A merge waits for one value, whichever comes first; an invariant comes in every iteration.
    const int32_t wanted = merges ? (flow.at_hand < 0 ? 1 : 0) : values;
    frame.first_counts[flow.local].waits = controls + wanted;
    frame.counts[flow.local].waits = controls + wanted - (merges ? 0 : invariants);
    if (controls + wanted == 0) {
      plan_.roots.push_back(n);
    } else if (frame.counts[flow.local].waits == 0) {
      frame.starters.push_back(n);
    }
  }

  void AddEdges() {
    std::vector<std::vector<FlowEdge>> out(source_.nodes.size());
    for (size_t n = 0; n < source_.nodes.size(); ++n) {
      const Node& node = source_.graph.node(source_.nodes[n].id);
      const auto consumer = static_cast<int32_t>(n);
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const int32_t from = source_.position[node.inputs[i].node];
        if (from >= 0)
          out[from].push_back({consumer, node.inputs[i].port, static_cast<int32_t>(i)});
      }
      for (const NodeId control : node.control_inputs) {
        if (source_.position[control] >= 0)
          out[source_.position[control]].push_back({consumer, -1, -1});
      }
    }
    for (size_t n = 0; n < out.size(); ++n) {
      plan_.nodes[n].first_edge = static_cast<int32_t>(plan_.edges.size());
      plan_.nodes[n].num_edges = static_cast<int32_t>(out[n].size());
      plan_.edges.insert(plan_.edges.end(), out[n].begin(), out[n].end());
    }
  }

  // A step's results must lie outside of all loops.
  Status CheckResults() const {
    for (const NodeId id : source_.order) {
      const Node& node = source_.graph.node(id);
      if (node.op_name() != "_Retval" || map_.of_node[id] == 0) continue;
      return InvalidArgument(
          "{} is inside the loop '{}' and cannot be fetched: it has one value for each "
          "iteration; fetch what an Exit takes out",
          source_.graph.Describe(node.inputs[0].node), map_.frames[map_.of_node[id]].name);
    }
    return OkStatus();
  }

  const FramePlan::Source& source_;
  const FrameMap map_;
  FramePlan plan_;
};

}  // namespace

Result<FramePlan> FramePlan::Make(const Source& source) {
  TRY_ASSIGN(FrameMap map, FindFrames(source.graph, source.order));
  return Maker(source, std::move(map)).Make();
}

}  // namespace penstock
