#include "penstock/execute/parallel_step.h"

#include <memory>

namespace penstock {

void ParallelStep::Launch() {
  // The launch itself counts, so that the step is here until it has handed everything out.
  unfinished_.store(1, std::memory_order_relaxed);
  if (const Status status = Begin(); !status.ok()) {
    Fail(status);
  } else {
    Reset();
    unfinished_.fetch_add(static_cast<int64_t>(plan_.roots_.size()), std::memory_order_relaxed);
    const int64_t queued = Now();
    std::vector<int32_t> mine;
    Dispatch(plan_.roots_, &mine);
    for (const int32_t node : mine) Process(node, queued);
  }
  NodeEnded();
}

Result<std::vector<Tensor>> ParallelStep::TakeOutcome() {
  Status status;
  {
    MutexLock lock(mu_);
    status = status_;
  }
  Result<std::vector<Tensor>> results = std::vector<Tensor>();
  if (status.ok()) {
    results = TakeResults();
  } else {
    results = status;
  }
  ClearAll();
  return results;
}

void ParallelStep::Reset() {
  for (size_t n = 0; n < plan_.nodes_.size(); ++n)
    state_->waits[n].store(plan_.edges_[n].num_waits, std::memory_order_relaxed);
  for (size_t s = 0; s < state_->slots.size(); ++s)
    state_->readers[s].store(plan_.slot_readers_[s], std::memory_order_relaxed);
}

void ParallelStep::Dispatch(const std::vector<int32_t>& ready, std::vector<int32_t>* mine) {
  ThreadPool* pool = plan_.device().pool();
  if (pool->threads() == 1) {
    mine->insert(mine->end(), ready.begin(), ready.end());
    return;
  }
  const int64_t queued = Now();
  const size_t before = mine->size();
  int32_t kept_dear = -1;
  for (const int32_t node : ready) {
    const PlanNode& plan_node = plan_.nodes_[node];
    if (!IsDear(plan_node, state_->inputs.data() + plan_node.first_input)) {
      mine->push_back(node);
    } else if (kept_dear < 0) {
      kept_dear = node;
    } else {
      HandOut(node, queued);
    }
  }
  if (kept_dear < 0) return;
  if (mine->size() == before) {
    mine->push_back(kept_dear);
  } else {
    HandOut(kept_dear, queued);
  }
}

void ParallelStep::HandOut(int32_t node, int64_t queued) {
  plan_.device().pool()->Schedule([this, node, queued] { Process(node, queued); });
}

void ParallelStep::Process(int32_t node, int64_t queued) {
  std::vector<int32_t> mine{node};
  std::vector<int32_t> ready;
  while (!mine.empty()) {
    const int32_t index = mine.back();
    mine.pop_back();
    const PlanNode& plan_node = plan_.nodes_[index];
    if (plan_node.async && !failed_.load(std::memory_order_relaxed)) {
      StartAsync(index, queued, &mine);
      continue;
    }
    ready.clear();
    Status status;
    if (!failed_.load(std::memory_order_relaxed)) {
      Call call(&resources_);
      status = Compute(plan_node, state_->inputs.data() + plan_node.first_input,
                       state_->slots.data() + plan_node.first_output, LastUses(plan_node), queued,
                       &call);
    }
    Complete(index, status, &ready);
    Dispatch(ready, &mine);
    NodeEnded();
  }
}

void ParallelStep::StartAsync(int32_t index, int64_t queued, std::vector<int32_t>* mine) {
  const PlanNode& node = plan_.nodes_[index];
  ComputeAsync(node, state_->inputs.data() + node.first_input,
               state_->slots.data() + node.first_output, LastUses(node), queued,
               [this, index, mine](const Status& status, Call& call) {
                 std::vector<int32_t> ready;
                 Complete(index, status, &ready);
                 if (call.EndedAtOnce()) {
                   Dispatch(ready, mine);
                 } else {
                   // The callback's thread belongs to somebody else: go on on the pool.
                   const int64_t queued = Now();
                   for (const int32_t next : ready) HandOut(next, queued);
                 }
                 NodeEnded();
               });
}

void ParallelStep::Complete(int32_t index, const Status& status, std::vector<int32_t>* ready) {
  const PlanNode& node = plan_.nodes_[index];
  const PlanEdges& edges = plan_.edges_[index];
  if (!status.ok()) Fail(FailedNode(node, status));
  if (request_.progress != nullptr) request_.progress->NodeEnded();
  ReleaseInputs(node);
  for (int32_t i = 0; i < node.num_outputs; ++i) {
    const int32_t slot = node.first_output + i;
    if (plan_.slot_readers_[slot] == 0) state_->slots[slot] = Tensor();
  }
  for (int32_t i = 0; i < edges.num_consumers; ++i) {
    const int32_t consumer = plan_.consumers_[edges.first_consumer + i];
    // acq_rel: who brings the count to zero sees what all the other producers wrote.
    if (state_->waits[consumer].fetch_sub(1, std::memory_order_acq_rel) == 1)
      ready->push_back(consumer);
  }
  if (!ready->empty())
    unfinished_.fetch_add(static_cast<int64_t>(ready->size()), std::memory_order_relaxed);
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
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) Finish();
}

}  // namespace penstock
