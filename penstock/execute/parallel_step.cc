#include "penstock/execute/parallel_step.h"

#include <memory>

namespace penstock {

Result<std::vector<Tensor>> ParallelStep::Run() {
  if (Launch()) {
    // Lend a hand with what is queued before going to sleep.
    while (unfinished_.load(std::memory_order_acquire) > 0 && plan_.device().pool()->RunOne()) {
    }
    MutexLock lock(mu_);
    while (!all_done_) done_.Wait(mu_);
  }
  return TakeOutcome();
}

void ParallelStep::Start(Plan& plan, const StepRequest& request, StepDone done) {
  auto* step = new ParallelStep(plan, request);
  step->when_done_ = std::move(done);
  // Held by the launch itself, so that the step is here until it returns.
  step->unfinished_.store(1, std::memory_order_relaxed);
  (void)step->Launch();
  step->NodeEnded();
}

bool ParallelStep::Launch() {
  Status status = Begin();
  if (!status.ok()) {
    MutexLock lock(mu_);
    status_ = status;
    return false;
  }
  Reset();
  if (plan_.roots_.empty()) return false;
  unfinished_.fetch_add(static_cast<int64_t>(plan_.roots_.size()), std::memory_order_relaxed);
  const int64_t queued = request_.trace == nullptr ? 0 : Trace::Now();
  std::vector<int32_t> mine;
  Dispatch(plan_.roots_, &mine);
  for (const int32_t node : mine) Process(node, queued);
  return true;
}

Result<std::vector<Tensor>> ParallelStep::TakeOutcome() {
  Status status;
  {
    MutexLock lock(mu_);
    status = status_;
  }
  if (!status.ok()) {
    ClearAll();
    return status;
  }
  Result<std::vector<Tensor>> results = TakeResults();
  if (results.ok()) {
    for (size_t i = 0; i < plan_.result_slots_.size(); ++i) {
      const int32_t slot = plan_.result_slots_[i];
      if (slot < 0 || state_->dead[slot].load(std::memory_order_relaxed) == 0) continue;
      ClearAll();
      return InvalidArgument(
          "Retval[{}] does not have value: it was on a branch that was not taken", i);
    }
  }
  ClearAll();
  return results;
}

void ParallelStep::Reset() {
  const size_t num_nodes = plan_.nodes_.size();
  const size_t num_slots = state_->slots.size();
  for (size_t n = 0; n < num_nodes; ++n) {
    state_->waits[n].store(plan_.edges_[n].num_waits, std::memory_order_relaxed);
    state_->dead[num_slots + n].store(0, std::memory_order_relaxed);
  }
  for (size_t s = 0; s < num_slots; ++s) {
    state_->readers[s].store(plan_.slot_readers_[s], std::memory_order_relaxed);
    state_->dead[s].store(0, std::memory_order_relaxed);
  }
}

void ParallelStep::Dispatch(const std::vector<int32_t>& ready, std::vector<int32_t>* mine) {
  const size_t before = mine->size();
  int32_t kept_dear = -1;
  ThreadPool* pool = plan_.device().pool();
  for (const int32_t node : ready) {
    if (!plan_.nodes_[node].dear || pool->threads() == 1) {
      mine->push_back(node);
    } else if (kept_dear < 0) {
      kept_dear = node;
    } else {
      const int64_t queued = request_.trace == nullptr ? 0 : Trace::Now();
      pool->Schedule([this, node, queued] { Process(node, queued); });
    }
  }
  if (kept_dear < 0) return;
  if (mine->size() == before) {
    mine->push_back(kept_dear);
    return;
  }
  const int64_t queued = request_.trace == nullptr ? 0 : Trace::Now();
  pool->Schedule([this, kept_dear, queued] { Process(kept_dear, queued); });
}

void ParallelStep::Process(int32_t node, int64_t queued) {
  std::vector<int32_t> mine{node};
  std::vector<int32_t> ready;
  while (!mine.empty()) {
    const int32_t index = mine.back();
    mine.pop_back();
    const PlanNode& plan_node = plan_.nodes_[index];
    const size_t flag = state_->slots.size() + static_cast<size_t>(index);
    const bool skip = state_->dead[flag].load(std::memory_order_relaxed) != 0 ||
                      failed_.load(std::memory_order_relaxed);
    if (plan_node.async && !skip) {
      StartNode(index, queued);
      continue;
    }
    if (skip) {
      ready.clear();
      Propagate(index, true, ~uint64_t{0}, &ready);
    } else {
      KernelContextBuilder builder(&resources_);
      std::vector<Tensor> values;
      std::vector<Tensor*> pointers;
      Tensor* const* inputs = state_->inputs.data() + plan_node.first_input;
      Status status;
      builder.Inputs(inputs, plan_node.num_inputs)
          .Outputs(state_->slots.data() + plan_node.first_output, plan_node.num_outputs, false)
          .Settled(plan_node.settled < 0 ? nullptr : &plan_.settled_shapes_[plan_node.settled])
          .LastUse(LastUses(plan_node));
      if (plan_node.reads_refs) {
        status = ReadVariables(plan_node, inputs, &values, &pointers);
        builder.Inputs(pointers.data(), plan_node.num_inputs).LastUse(0);
      }
      TraceEvent event;
      if (request_.trace != nullptr) event.started = Trace::Now();
      if (status.ok() && request_.cancellation != nullptr && request_.cancellation->IsCancelled()) {
        status = request_.cancellation->status();
      }
      if (status.ok() && plan_node.kernel != nullptr)
        status = plan_node.kernel->Compute(builder.context());
      if (request_.trace != nullptr) {
        event.node = plan_node.id;
        event.thread = Trace::ThreadNumber();
        event.queued = queued;
        event.ended = Trace::Now();
        event.bytes = OutputBytes(plan_node);
        request_.trace->Add(event);
      }
      if (!status.ok()) Fail(FailedNode(plan_node, status));
      ready.clear();
      Propagate(index, !status.ok(), builder.TakeDeadOutputs(), &ready);
    }
    Dispatch(ready, &mine);
    NodeEnded();
  }
}

// An asynchronous node keeps its context until it calls back.
struct ParallelStep::AsyncNode {
  explicit AsyncNode(StepResources* resources) : builder(resources) {}
  KernelContextBuilder builder;
  std::vector<Tensor> values;
  std::vector<Tensor*> pointers;
  TraceEvent event;
};

void ParallelStep::StartNode(int32_t index, int64_t queued) {
  const PlanNode& node = plan_.nodes_[index];
  auto running = std::make_shared<AsyncNode>(&resources_);
  Tensor* const* inputs = state_->inputs.data() + node.first_input;
  running->event.queued = queued;
  if (request_.trace != nullptr) running->event.started = Trace::Now();
  running->builder.Inputs(inputs, node.num_inputs)
      .Outputs(state_->slots.data() + node.first_output, node.num_outputs, false)
      .LastUse(LastUses(node));
  if (node.reads_refs) {
    if (Status status = ReadVariables(node, inputs, &running->values, &running->pointers);
        !status.ok()) {
      Finish(index, status, 0);
      return;
    }
    running->builder.Inputs(running->pointers.data(), node.num_inputs).LastUse(0);
  }
  node.kernel->ComputeAsync(running->builder.context(),
                            [this, index, running](const Status& status) {
                              if (request_.trace != nullptr) {
                                running->event.node = plan_.nodes_[index].id;
                                running->event.thread = Trace::ThreadNumber();
                                running->event.ended = Trace::Now();
                                request_.trace->Add(running->event);
                              }
                              Finish(index, status, running->builder.TakeDeadOutputs());
                            });
}

void ParallelStep::Finish(int32_t index, const Status& status, uint64_t dead_outputs) {
  if (!status.ok()) Fail(FailedNode(plan_.nodes_[index], status));
  std::vector<int32_t> ready;
  Propagate(index, !status.ok(), dead_outputs, &ready);
  const int64_t queued = request_.trace == nullptr ? 0 : Trace::Now();
  // The callback's thread belongs to somebody else: go on with the step on the pool.
  for (const int32_t node : ready) {
    plan_.device().pool()->Schedule([this, node, queued] { Process(node, queued); });
  }
  NodeEnded();
}

void ParallelStep::Propagate(int32_t index, bool skipped, uint64_t dead_outputs,
                             std::vector<int32_t>* ready) {
  const PlanNode& node = plan_.nodes_[index];
  const PlanEdges& edges = plan_.edges_[index];
  const size_t num_slots = state_->slots.size();
  ReleaseInputs(node);
  for (int32_t i = 0; i < node.num_outputs; ++i) {
    const int32_t slot = node.first_output + i;
    if (i < 64 && (dead_outputs >> i & 1) != 0)
      state_->dead[slot].store(1, std::memory_order_relaxed);
    if (plan_.slot_readers_[slot] == 0) state_->slots[slot] = Tensor();
  }
  const bool all_dead = skipped || (node.num_outputs > 0 && dead_outputs == ~uint64_t{0});
  for (int32_t i = 0; i < edges.num_consumers; ++i) {
    const int32_t consumer = plan_.consumers_[edges.first_consumer + i];
    if (all_dead) state_->dead[num_slots + consumer].store(1, std::memory_order_relaxed);
  }
  if (!all_dead && dead_outputs != 0) {
    // Some outputs are dead: mark the consumers that read one of them.
    for (int32_t i = 0; i < edges.num_consumers; ++i) {
      const int32_t consumer = plan_.consumers_[edges.first_consumer + i];
      const PlanNode& reader = plan_.nodes_[consumer];
      for (int32_t k = 0; k < reader.num_inputs; ++k) {
        const int32_t slot = plan_.input_slots_[reader.first_input + k];
        if (state_->dead[slot].load(std::memory_order_relaxed) != 0) {
          state_->dead[num_slots + consumer].store(1, std::memory_order_relaxed);
        }
      }
    }
  }
  int64_t made_ready = 0;
  for (int32_t i = 0; i < edges.num_consumers; ++i) {
    const int32_t consumer = plan_.consumers_[edges.first_consumer + i];
    // acq_rel: who brings the count to zero sees what all the other producers wrote.
    if (state_->waits[consumer].fetch_sub(1, std::memory_order_acq_rel) == 1) {
      ready->push_back(consumer);
      ++made_ready;
    }
  }
  if (made_ready > 0) unfinished_.fetch_add(made_ready, std::memory_order_relaxed);
}

uint64_t ParallelStep::LastUses(const PlanNode& node) const {
  uint64_t mask = 0;
  for (int32_t i = 0; i < node.num_inputs && i < 64; ++i) {
    const int32_t slot = plan_.input_slots_[node.first_input + i];
    // Acquire: the readers before have let go, and what they read is not written before that.
    if (plan_.slot_is_transient_[slot] &&
        state_->readers[slot].load(std::memory_order_acquire) == 1)
      mask |= uint64_t{1} << i;
  }
  return mask;
}

void ParallelStep::ReleaseInputs(const PlanNode& node) {
  for (int32_t i = 0; i < node.num_inputs; ++i) {
    const int32_t slot = plan_.input_slots_[node.first_input + i];
    if (!plan_.slot_is_transient_[slot]) continue;
    if (state_->readers[slot].fetch_sub(1, std::memory_order_acq_rel) == 1)
      state_->slots[slot] = Tensor();
  }
}

void ParallelStep::Fail(const Status& status) {
  {
    MutexLock lock(mu_);
    if (!status_.ok()) return;
    status_ = status;
  }
  failed_.store(true, std::memory_order_relaxed);
  // Wakes what waits inside the step; the caller's reason stays the first error.
  if (request_.cancellation != nullptr)
    request_.cancellation->Cancel(Cancelled("another node of the step failed"));
}

void ParallelStep::NodeEnded() {
  // acq_rel: the thread that ends the last node has seen all results.
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (when_done_) {
    StepDone done = std::move(when_done_);
    Result<std::vector<Tensor>> outcome = TakeOutcome();
    delete this;
    done(std::move(outcome));
    return;
  }
  MutexLock lock(mu_);
  all_done_ = true;
  done_.NotifyAll();
}

}  // namespace penstock
