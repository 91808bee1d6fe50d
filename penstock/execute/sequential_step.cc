#include "penstock/execute/sequential_step.h"

namespace penstock {

Result<std::vector<Tensor>> SequentialStep::Run() {
  Status status = Begin();
  if (status.ok()) status = request_.trace == nullptr ? RunNodes<false>() : RunNodes<true>();
  if (!status.ok()) {
    ClearAll();
    return status;
  }
  return TakeResults();
}

template <bool kTraced>
Status SequentialStep::RunNodes() {
  Tensor* const slots = state_->slots.data();
  Tensor* const* const inputs = state_->inputs.data();
  const Cancellation* const cancellation = request_.cancellation;
  KernelContextBuilder builder(&resources_);
  std::vector<Tensor*> pointers;
  TraceEvent event;
  if constexpr (kTraced) event.thread = Trace::ThreadNumber();
  for (const PlanNode& node : plan_.nodes_) {
    if (cancellation != nullptr && cancellation->IsCancelled())
      return FailedNode(node, cancellation->status());
    if constexpr (kTraced) event.started = event.queued = Trace::Now();
    if (!kTraced && node.kernel == nullptr) continue;  // its place in the order is all it is for
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
    if (!kTraced || node.kernel != nullptr) {
      if (Status status = node.kernel->Compute(builder.context()); !status.ok()) [[unlikely]]
        return FailedNode(node, status);
    }
    if constexpr (kTraced) {
      event.ended = Trace::Now();
      event.node = node.id;
      event.bytes = OutputBytes(node, slots + node.first_output);
      request_.trace->Add(event);
    }
    if (node.reads_refs) state_->read.clear();
    for (int32_t i = 0; i < node.num_clear; ++i)
      slots[plan_.clear_slots_[node.first_clear + i]] = Tensor();
  }
  return OkStatus();
}

}  // namespace penstock
