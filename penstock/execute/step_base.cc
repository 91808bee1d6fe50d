#include "penstock/execute/step_base.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "penstock/core/resource.h"

namespace penstock {
namespace {

// The variable behind a reference: its output is a handle.
StateVariable* VariableOf(const Tensor& handle) {
  if (handle.dtype() != DType::kResource || handle.num_elements() != 1) return nullptr;
  return dynamic_cast<StateVariable*>(handle.data<ResourceHandle>()->resource.get());
}

Result<Tensor> ReadReference(const Tensor& handle, bool allow_uninitialized) {
  StateVariable* variable = VariableOf(handle);
  if (variable == nullptr) return Internal("a reference does not point at a variable");
  Tensor value = variable->Read();
  if (!value.initialized() && !allow_uninitialized) {
    return FailedPrecondition("Attempting to use uninitialized value {}",
                              handle.data<ResourceHandle>()->name);
  }
  return value;
}

}  // namespace

StepBase::StepBase(Plan& plan, const StepRequest& request)
    : plan_(plan), request_(request), state_(plan.AcquireState()) {
  resources_.allocator = plan.device().allocator();
  resources_.parallel = ParallelFor(plan.device().pool());
  resources_.cancellation = request.cancellation;
  resources_.state = request.state;
  resources_.functions = request.functions;
  resources_.rendezvous = request.rendezvous;
  resources_.step_id = request.step_id;
  resources_.call_depth = request.call_depth;
}

StepBase::~StepBase() {
  if (state_) plan_.ReleaseState(std::move(state_));
}

Status StepBase::Begin() {
  for (size_t i = 0; i < request_.args.size(); ++i) {
    if (plan_.arg_slots_[i] >= 0) state_->slots[plan_.arg_slots_[i]] = request_.args[i];
  }
  for (size_t i = 0; i < request_.taken_args.size(); ++i) {
    Tensor value = std::move(request_.taken_args[i]);
    if (plan_.arg_slots_[i] >= 0) state_->slots[plan_.arg_slots_[i]] = std::move(value);
  }
  if (plan_.schedule_.arena_bytes > 0 && !state_->arena.initialized()) {
    Result<Tensor> arena =
        Tensor::Make(resources_.allocator, DType::kUint8, Shape{plan_.schedule_.arena_bytes});
    if (!arena.ok()) {
      const Status status =
          arena.status().Annotate(Format("the step's memory plan needs {} bytes for {} values",
                                         plan_.schedule_.arena_bytes, plan_.places_.size()));
      return FailedNode(LargestPlacedNode(), status);
    }
    state_->arena = *std::move(arena);
    auto* base = state_->arena.mutable_data<uint8_t>();
    for (const Plan::Place& place : plan_.places_) {
      state_->slots[place.slot] = Tensor::Borrowed(place.dtype, place.shape, base + place.offset);
    }
  }
  return OkStatus();
}

const PlanNode& StepBase::LargestPlacedNode() const {
  const auto largest = std::max_element(
      plan_.places_.begin(), plan_.places_.end(), [](const Plan::Place& a, const Plan::Place& b) {
        return a.shape.num_elements() * static_cast<int64_t>(SizeOf(a.dtype)) <
               b.shape.num_elements() * static_cast<int64_t>(SizeOf(b.dtype));
      });
  // Slots are handed out in the order of nodes.
  const auto after =
      std::upper_bound(plan_.nodes_.begin(), plan_.nodes_.end(), largest->slot,
                       [](int32_t slot, const PlanNode& node) { return slot < node.first_output; });
  return *std::prev(after);
}

Result<std::vector<Tensor>> StepBase::TakeResults() {
  std::vector<Tensor> results(plan_.result_slots_.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const int32_t slot = plan_.result_slots_[i];
    if (slot < 0) continue;
    if (plan_.result_is_ref_[i] != 0) {
      TRY_ASSIGN(results[i], ReadReference(state_->slots[slot], false));
    } else {
      results[i] = state_->slots[slot];
    }
  }
  for (const int32_t slot : plan_.result_slots_) {
    if (slot >= 0 && plan_.slot_is_transient_[slot]) state_->slots[slot] = Tensor();
  }
  for (const int32_t slot : plan_.arg_slots_) {
    if (slot >= 0) state_->slots[slot] = Tensor();
  }
  return results;
}

void StepBase::ClearAll() {
  for (size_t slot = 0; slot < state_->slots.size(); ++slot) {
    if (plan_.slot_is_transient_[slot]) state_->slots[slot] = Tensor();
  }
}

Status StepBase::ReadVariables(const PlanNode& node, Tensor* const* inputs,
                               std::vector<Tensor>* values, std::vector<Tensor*>* pointers) {
  values->assign(node.num_inputs, Tensor());
  pointers->assign(inputs, inputs + node.num_inputs);
  const bool allow = plan_.graph().node(node.id).op->def.allows_uninitialized_input;
  for (int32_t i = 0; i < node.num_inputs; ++i) {
    if (plan_.input_is_ref_read_[node.first_input + i] == 0) continue;
    TRY_ASSIGN((*values)[i], ReadReference(*inputs[i], allow));
    // The graph's shapes were settled when it was compiled; the variable may have been given
    // another since.
    const Shape& expected = plan_.graph().output(plan_.graph().node(node.id).inputs[i]).shape;
    if ((*values)[i].initialized() && !expected.IsCompatibleWith((*values)[i].shape())) {
      return InvalidArgument("variable {} must have shape {}, got {}",
                             inputs[i]->data<ResourceHandle>()->name, expected,
                             (*values)[i].shape());
    }
    (*pointers)[i] = &(*values)[i];
  }
  return OkStatus();
}

Status StepBase::FailedNode(const PlanNode& node, const Status& status) const {
  const Graph& graph = plan_.graph();
  std::string where = "\n\t [[{{node " + graph.node(node.id).name + "}}]]";
  if (status.message().find(where) != std::string::npos) return status;
  return Status(status.code(), graph.Describe(node.id) + ": " + status.message() + where);
}

int64_t StepBase::OutputBytes(const PlanNode& node, const Tensor* outputs) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < node.num_outputs; ++i) {
    if (outputs[i].initialized()) bytes += static_cast<int64_t>(outputs[i].bytes());
  }
  return bytes;
}

Status StepBase::Prepare(const PlanNode& node, Tensor* const* inputs, Tensor* outputs,
                         uint64_t last_use, int64_t queued, Call* call) {
  call->builder.Inputs(inputs, node.num_inputs)
      .Outputs(outputs, node.num_outputs, false)
      .Settled(node.settled < 0 ? nullptr : &plan_.settled_shapes_[node.settled])
      .LastUse(last_use);
  call->event.queued = queued;
  call->event.started = Now();
  if (!node.reads_refs) return OkStatus();
  TRY(ReadVariables(node, inputs, &call->values, &call->pointers));
  call->builder.Inputs(call->pointers.data(), node.num_inputs).LastUse(0);
  return OkStatus();
}

Status StepBase::Compute(const PlanNode& node, Tensor* const* inputs, Tensor* outputs,
                         uint64_t last_use, int64_t queued, Call* call) {
  if (request_.progress != nullptr) request_.progress->NodeStarted(node.id);
  TRY(Prepare(node, inputs, outputs, last_use, queued, call));
  if (request_.cancellation != nullptr && request_.cancellation->IsCancelled())
    return request_.cancellation->status();
  Status status;
  if (node.kernel != nullptr) status = node.kernel->Compute(call->builder.context());
  Record(node, outputs, call);
  return status;
}

void StepBase::ComputeAsync(const PlanNode& node, Tensor* const* inputs, Tensor* outputs,
                            uint64_t last_use, int64_t queued,
                            std::function<void(Status, Call&)> done) {
  auto call = std::make_shared<Call>(&resources_);
  call->starter = std::this_thread::get_id();
  if (Status status = Prepare(node, inputs, outputs, last_use, queued, call.get()); !status.ok())
    return done(std::move(status), *call);
  if (request_.progress != nullptr) request_.progress->NodeWaits(node.id, &call->waiting);
  node.kernel->ComputeAsync(call->builder.context(),
                            [this, &node, outputs, call, done = std::move(done)](Status status) {
                              if (request_.progress != nullptr)
                                request_.progress->NodeResumed(&call->waiting);
                              Record(node, outputs, call.get());
                              done(std::move(status), *call);
                            });
  call->returned = true;
}

void StepBase::Record(const PlanNode& node, const Tensor* outputs, Call* call) {
  if (request_.trace == nullptr) return;
  call->event.node = node.id;
  call->event.thread = Trace::ThreadNumber();
  call->event.ended = Trace::Now();
  call->event.bytes = OutputBytes(node, outputs);
  request_.trace->Add(call->event);
}

bool StepBase::IsDear(const PlanNode& node, Tensor* const* inputs) {
  // Estimated cycles from which a node is handed to another thread when it runs beside others.
  constexpr double kDearCycles = 20'000;
  if (node.cycles_per_element == 0) return false;
  int64_t elements = 0;
  for (int32_t i = 0; i < node.num_inputs; ++i)
    elements = std::max(elements, inputs[i]->num_elements());
  return static_cast<double>(elements) * node.cycles_per_element > kDearCycles;
}

}  // namespace penstock
