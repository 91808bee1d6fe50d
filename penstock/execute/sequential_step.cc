#include "penstock/execute/sequential_step.h"

namespace penstock {

Result<std::vector<Tensor>> SequentialStep::Run() {
  Status status = Begin();
  const bool watched = request_.trace != nullptr || request_.progress != nullptr;
  if (status.ok()) status = watched ? RunNodes<true>() : RunNodes<false>();
  if (!status.ok()) {
    ClearAll();
    return status;
  }
  return TakeResults();
}

// The loop that nobody watches is the one that counts: it has no test for watchers.
template <bool kWatched>
Status SequentialStep::RunNodes() {
  Tensor* const slots = state_->slots.data();
  Tensor* const* const inputs = state_->inputs.data();
  const Cancellation* const cancellation = request_.cancellation;
  KernelContextBuilder builder(&resources_);
  std::vector<Tensor*> pointers;
  TraceEvent event;
  [[maybe_unused]] Trace* const trace = request_.trace;
  [[maybe_unused]] StepProgress* const progress = request_.progress;
  [[maybe_unused]] int64_t ended = 0;
  if constexpr (kWatched) event.thread = Trace::ThreadNumber();
  for (const PlanNode& node : plan_.nodes_) {
    if (cancellation != nullptr && cancellation->IsCancelled())
      return FailedNode(node, cancellation->status());
    if constexpr (kWatched) {
      if (trace != nullptr) event.started = event.queued = Trace::Now();
      if (progress != nullptr) progress->NodeStarted(node.id);
    }
    if (!kWatched && node.kernel == nullptr) continue;  // its place in the order is all it is for
    builder.Inputs(inputs + node.first_input, node.num_inputs)
        .Outputs(slots + node.first_output, node.num_outputs, node.placed)
        .Settled(node.settled < 0 ? nullptr : &plan_.settled_shapes_[node.settled])
        .LastUse(node.last_use);
    if (node.reads_refs) {
      if (Status read = ReadVariables(node, inputs + node.first_input, &state_->read, &pointers);
          !read.ok()) {
        return FailedNode(node, read);
      }
      builder.Inputs(pointers.data(), node.num_inputs).LastUse(0);
    }
    if (!kWatched || node.kernel != nullptr) {
      if (Status status = node.kernel->Compute(builder.context()); !status.ok()) [[unlikely]]
        return FailedNode(node, status);
    }
    if constexpr (kWatched) {
      if (trace != nullptr) {
        event.ended = Trace::Now();
        event.node = node.id;
        event.bytes = OutputBytes(node, slots + node.first_output);
        trace->Add(event);
      }
      if (progress != nullptr) progress->NodesEnded(++ended);
    }
    if (node.reads_refs) state_->read.clear();
    for (int32_t i = 0; i < node.num_clear; ++i)
      slots[plan_.clear_slots_[node.first_clear + i]] = Tensor();
  }
  return OkStatus();
}

}  // namespace penstock
