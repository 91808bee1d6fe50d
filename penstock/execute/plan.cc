#include "penstock/execute/plan.h"

#include <algorithm>

#include "penstock/execute/frame_store.h"
#include "penstock/execute/step_state.h"
#include "penstock/graph/node_check.h"
#include "penstock/graph/settled.h"

namespace penstock {
namespace {

// Arenas up to this size stay with an idle state; larger memory goes back to the allocator between
// steps.
constexpr int64_t kKeptArenaBytes = 64 << 10;
constexpr size_t kMaxIdleStates = 16;

int64_t IntAttr(const Node& node, std::string_view name) {
  const AttrValue* value = FindAttr(node.attrs, name);
  const int64_t* number = value == nullptr ? nullptr : value->Get<int64_t>();
  return number == nullptr ? 0 : *number;
}

}  // namespace

Plan::Plan(Graph graph, Schedule schedule, std::shared_ptr<Device> device)
    : graph_(std::move(graph)), schedule_(std::move(schedule)), device_(std::move(device)) {}

Plan::~Plan() = default;

Result<std::unique_ptr<Plan>> Plan::Make(Graph graph, Schedule schedule,
                                         const KernelRegistry& kernels,
                                         std::shared_ptr<Device> device) {
  std::unique_ptr<Plan> plan(new Plan(std::move(graph), std::move(schedule), std::move(device)));
  plan->PlaceValues();
  TRY(plan->BuildNodes(kernels));
  plan->FindLastUses();
  if (plan->schedule_.sequential) return plan;
  TRY(plan->FindFlow());
  if (!plan->has_frames()) plan->FindConsumers();
  return plan;
}

// Gives every output a slot, first of all: a loop reads values of nodes that come after it.
void Plan::PlaceValues() {
  first_slot_.assign(static_cast<size_t>(graph_.num_nodes()), -1);
  position_.assign(first_slot_.size(), -1);
  for (const NodeId id : schedule_.order) {
    first_slot_[id] = num_slots_;
    num_slots_ += static_cast<int32_t>(graph_.node(id).outputs.size());
  }
}

Status Plan::BuildNodes(const KernelRegistry& kernels) {
  for (const NodeId id : schedule_.order) {
    const Node& node = graph_.node(id);
    const std::string& op = node.op_name();
    if (op == "_Retval") {
      const auto index = static_cast<size_t>(IntAttr(node, "index"));
      if (result_slots_.size() <= index) {
        result_slots_.resize(index + 1, -1);
        result_is_ref_.resize(index + 1, 0);
      }
      const OutputRef from = node.inputs[0];
      result_slots_[index] = first_slot_[from.node] + from.port;
      result_is_ref_[index] = graph_.output(from).is_ref;
      continue;
    }
    if (op == "_Arg") {
      const auto index = static_cast<size_t>(IntAttr(node, "index"));
      if (arg_slots_.size() <= index) {
        arg_slots_.resize(index + 1, -1);
        arg_info_.resize(index + 1);
      }
      arg_slots_[index] = first_slot_[id];
      arg_info_[index] = node.outputs[0];
      continue;
    }
    if (op == "Const" && node.control_inputs.empty()) {
      if (const Tensor* value = ConstantValue(graph_, {id, 0})) {
        constants_.emplace_back(first_slot_[id], *value);
        continue;
      }
    }
    TRY(AddNode(id, kernels));
  }
  return OkStatus();
}

Status Plan::AddNode(NodeId id, const KernelRegistry& kernels) {
  const Node& node = graph_.node(id);
  PlanNode plan_node;
  plan_node.id = id;
  plan_node.first_input = static_cast<int32_t>(input_slots_.size());
  plan_node.num_inputs = static_cast<int32_t>(node.inputs.size());
  plan_node.first_output = first_slot_[id];
  plan_node.num_outputs = static_cast<int32_t>(node.outputs.size());
  plan_node.async = node.op->traits.async;
  plan_node.cycles_per_element =
      node.op->traits.cheap ? 0.0f : static_cast<float>(node.op->traits.cost);

  TRY_ASSIGN(const NodeTypes types, ExpandTypes(node.op->def, node.attrs));
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const OutputRef input = node.inputs[i];
    input_slots_.push_back(first_slot_[input.node] + input.port);
    const bool read = graph_.output(input).is_ref && !types.input_is_ref[i];
    input_is_ref_read_.push_back(read);
    plan_node.reads_refs |= read;
  }
  // What only directs values is the executor's own work.
  if (!node.op->traits.no_op && FlowOf(*node.op) == Flow::kNone) {
    const KernelRequest request{node.decoded, node.name, types.inputs, types.outputs};
    Result<std::unique_ptr<Kernel>> kernel =
        kernels.Create(node.op_name(), device_->type(), request);
    if (!kernel.ok()) return kernel.status().Annotate(graph_.Describe(id));
    plan_node.kernel = kernel->get();
    kernels_.push_back(*std::move(kernel));
  }
  if (HasSettledShapes(graph_, node)) {
    plan_node.settled = static_cast<int32_t>(settled_shapes_.size());
    for (const OutputInfo& output : node.outputs) settled_shapes_.push_back(output.shape);
    PlaceInArena(node, &plan_node);
  }
  position_[id] = static_cast<int32_t>(nodes_.size());
  nodes_.push_back(plan_node);
  return OkStatus();
}

void Plan::PlaceInArena(const Node& node, PlanNode* plan_node) {
  const NodeId id = plan_node->id;
  if (schedule_.places.empty() || schedule_.places[id].empty()) return;
  plan_node->placed = true;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const int64_t offset = schedule_.places[id][i];
    if (offset < 0) continue;
    places_.push_back({first_slot_[id] + static_cast<int32_t>(i), offset, node.outputs[i].dtype,
                       node.outputs[i].shape});
  }
}

void Plan::FindLastUses() {
  slot_readers_.assign(num_slots_, 0);
  std::vector<int32_t> last_reader(num_slots_, -1);
  for (size_t n = 0; n < nodes_.size(); ++n) {
    for (int32_t i = 0; i < nodes_[n].num_inputs; ++i) {
      const int32_t slot = input_slots_[nodes_[n].first_input + i];
      last_reader[slot] = static_cast<int32_t>(n);
      ++slot_readers_[slot];
    }
  }
  slot_is_transient_.assign(num_slots_, 1);
  for (const auto& [slot, value] : constants_) slot_is_transient_[slot] = 0;
  for (const Place& place : places_) slot_is_transient_[place.slot] = 0;
  std::vector<uint8_t> stays(num_slots_, 0);  // until the end of the step
  for (int32_t slot = 0; slot < num_slots_; ++slot) stays[slot] = slot_is_transient_[slot] == 0;
  for (const int32_t slot : result_slots_) {
    if (slot < 0) continue;
    stays[slot] = 1;
    ++slot_readers_[slot];
  }
  for (size_t n = 0; n < nodes_.size(); ++n) {
    PlanNode& node = nodes_[n];
    node.first_clear = static_cast<int32_t>(clear_slots_.size());
    for (int32_t i = 0; i < node.num_inputs; ++i) {
      const int32_t slot = input_slots_[node.first_input + i];
      if (last_reader[slot] != static_cast<int32_t>(n) || stays[slot] != 0) continue;
      const auto first = clear_slots_.begin() + node.first_clear;
      if (std::find(first, clear_slots_.end(), slot) == clear_slots_.end())
        clear_slots_.push_back(slot);
      if (i < 64) node.last_use |= uint64_t{1} << i;
    }
    for (int32_t i = 0; i < node.num_outputs; ++i) {
      const int32_t slot = node.first_output + i;
      if (last_reader[slot] < 0 && stays[slot] == 0) clear_slots_.push_back(slot);
    }
    node.num_clear = static_cast<int32_t>(clear_slots_.size()) - node.first_clear;
    // A slot that a node reads twice is not free after the first of the two.
    for (int32_t i = 0; i < node.num_inputs && i < 64; ++i) {
      for (int32_t k = i + 1; k < node.num_inputs && k < 64; ++k) {
        if (input_slots_[node.first_input + i] == input_slots_[node.first_input + k]) {
          node.last_use &= ~(uint64_t{1} << i | uint64_t{1} << k);
        }
      }
    }
  }
}

Status Plan::FindFlow() {
  const bool flows = std::any_of(nodes_.begin(), nodes_.end(), [&](const PlanNode& node) {
    return FlowOf(*graph_.node(node.id).op) != Flow::kNone;
  });
  if (!flows) return OkStatus();
  TRY_ASSIGN(FramePlan frames, FramePlan::Make({graph_, schedule_.order, nodes_, position_,
                                                input_slots_, slot_readers_, num_slots_}));
  frames_ = std::make_unique<const FramePlan>(std::move(frames));
  return OkStatus();
}

void Plan::FindConsumers() {
  edges_.resize(nodes_.size());
  std::vector<std::vector<int32_t>> out(nodes_.size());
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = graph_.node(nodes_[n].id);
    auto wait_for = [&](NodeId source) {
      if (position_[source] < 0) return;  // an argument or a constant: there from the start
      out[position_[source]].push_back(static_cast<int32_t>(n));
      ++edges_[n].num_waits;
    };
    for (const OutputRef& input : node.inputs) wait_for(input.node);
    for (const NodeId control : node.control_inputs) wait_for(control);
    if (edges_[n].num_waits == 0) roots_.push_back(static_cast<int32_t>(n));
  }
  for (size_t n = 0; n < nodes_.size(); ++n) {
    edges_[n].first_consumer = static_cast<int32_t>(consumers_.size());
    edges_[n].num_consumers = static_cast<int32_t>(out[n].size());
    consumers_.insert(consumers_.end(), out[n].begin(), out[n].end());
  }
}

std::unique_ptr<StepState> Plan::AcquireState() {
  {
    MutexLock lock(mu_);
    if (!idle_.empty()) {
      std::unique_ptr<StepState> state = std::move(idle_.back());
      idle_.pop_back();
      return state;
    }
  }
  auto state = std::make_unique<StepState>();
  state->slots.resize(num_slots_);
  state->inputs.resize(input_slots_.size());
  for (size_t i = 0; i < input_slots_.size(); ++i)
    state->inputs[i] = &state->slots[input_slots_[i]];
  for (const auto& [slot, value] : constants_) state->slots[slot] = value;
  if (has_frames()) {
    state->frames = std::make_unique<FrameStore>(*frames_, state->slots.data());
  } else if (!schedule_.sequential) {
    state->waits = std::make_unique<std::atomic<int32_t>[]>(nodes_.size());
    state->readers = std::make_unique<std::atomic<int32_t>[]>(num_slots_);
  }
  return state;
}

void Plan::ReleaseState(std::unique_ptr<StepState> state) {
  if (schedule_.arena_bytes > kKeptArenaBytes) state->arena = Tensor();
  MutexLock lock(mu_);
  if (idle_.size() < kMaxIdleStates) idle_.push_back(std::move(state));
}

}  // namespace penstock
