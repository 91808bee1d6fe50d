#include "penstock/execute/frame_step.h"

#include <memory>
#include <utility>

// Note [frames]
// -------------
// A loop is a frame; each time around is an iteration with its own values and counters. Enter takes
// a value from an iteration of the parent frame into the first iteration of the loop, or, when it
// is constant, into all of them; NextIteration hands it to the next one; Exit brings it back to the
// parent's iteration. Between them a node reads and writes values of its own iteration alone.
//
// Dead values say which branch was not taken. They flow through nodes like live ones and stop at a
// Merge with a live input. A dead NextIteration starts no iteration. Exits are dead in every
// iteration but the last, so a dead one tells nothing until the loop has ended: an Exit that was
// never live is dead then.
//
// An iteration ends when it has nothing left to do and the one before has ended; a loop ends when
// all its values came in and its last iteration ended. Iterations after the first start when all
// values came in, so they find the invariants in place.
//
// All counters are guarded by one lock. A step of n kernels takes it n times; nodes that only
// direct values are done in between, without leaving it.

namespace penstock {

FrameStep::FrameStep(Plan& plan, const StepRequest& request)
    : ThreadedStep(plan, request),
      nodes_(plan.nodes_.data()),
      flows_(plan.frames_->nodes.data()),
      edges_(plan.frames_->edges.data()),
      frames_(*plan.frames_) {}

void FrameStep::Launch() {
  const Status status = Begin();
  std::vector<Task> ready;
  bool ended = false;
  {
    MutexLock lock(mu_);
    if (status.ok()) {
      Iteration* root = state_->frames->StartRoot();
      for (const int32_t node : frames_.roots) MakeReady(node, root);
      Settle(&ready);
    } else {
      status_ = status;
    }
    ended = active_ == 0;
  }
  if (ended) {
    Finish();
    return;
  }
  const int64_t queued = Now();
  std::vector<Task> mine;
  Dispatch(ready, &mine);
  // The last of these may end the step, which is then gone: nothing of it is touched after.
  for (size_t i = 0; i < mine.size(); ++i) Process(mine[i], queued);
}

Result<std::vector<Tensor>> FrameStep::TakeOutcome() {
  Status status;
  {
    MutexLock lock(mu_);
    status = status_;
  }
  if (const FrameRun* loop = state_->frames->FirstUnfinished(); status.ok() && loop != nullptr) {
    const FramePlan::Frame& frame = frames_.frames[loop->index];
    status = InvalidArgument("the loop '{}' did not end: {} of the {} values it waits for came in",
                             frame.name, frame.num_enters - loop->enters_left, frame.num_enters);
  }
  Result<std::vector<Tensor>> results = std::vector<Tensor>();
  for (size_t i = 0; i < plan_.result_slots_.size() && status.ok(); ++i) {
    const int32_t slot = plan_.result_slots_[i];
    if (slot >= 0 && !state_->slots[slot].initialized())
      status = InvalidArgument(
          "Retval[{}] does not have value: it was on a branch that was not taken", i);
  }
  if (status.ok()) {
    results = TakeResults();
  } else {
    results = status;
  }
  ClearAll();
  state_->frames->Clear();
  return results;
}

// ---- kernels ----

void FrameStep::Dispatch(const std::vector<Task>& ready, std::vector<Task>* mine) {
  ThreadPool* pool = plan_.device().pool();
  if (pool->threads() == 1 || ready.size() + mine->size() < 2) {
    mine->insert(mine->end(), ready.begin(), ready.end());
    return;
  }
  const int64_t queued = Now();
  bool kept_dear = !mine->empty();
  for (const Task& task : ready) {
    const PlanNode& node = nodes_[task.node];
    Tensor* const* inputs = task.iteration->inputs.data() + flows_[task.node].first_input;
    if (!IsDear(node, inputs)) {
      mine->push_back(task);
    } else if (!std::exchange(kept_dear, true)) {
      mine->insert(mine->begin(), task);  // last: what is cheap goes first
    } else {
      HandOut(task, queued);
    }
  }
}

void FrameStep::Process(Task task, int64_t queued) {
  std::vector<Task> mine{task};
  std::vector<Task> ready;
  bool ended = false;
  while (!mine.empty()) {
    task = mine.back();
    mine.pop_back();
    const PlanNode& node = nodes_[task.node];
    if (node.async) {
      ended = StartAsync(task, queued, &mine);
      continue;
    }
    const FlowNode& flow = flows_[task.node];
    Call call(&resources_);
    const Status status =
        Compute(node, task.iteration->inputs.data() + flow.first_input,
                task.iteration->slots + flow.first_output, task.last_use, queued, &call);
    ready.clear();
    ended = Complete(task, status, call.builder.TakeDeadOutputs(), &ready);
    if (!ready.empty()) Dispatch(ready, &mine);
  }
  if (ended) Finish();
}

bool FrameStep::StartAsync(const Task& task, int64_t queued, std::vector<Task>* mine) {
  const FlowNode& flow = flows_[task.node];
  bool ended_here = false;
  ComputeAsync(nodes_[task.node], task.iteration->inputs.data() + flow.first_input,
               task.iteration->slots + flow.first_output, task.last_use, queued,
               [this, task, mine, &ended_here](const Status& status, Call& call) {
                 std::vector<Task> ready;
                 const bool ended = Complete(task, status, call.builder.TakeDeadOutputs(), &ready);
                 if (call.EndedAtOnce()) {
                   ended_here = ended;
                   Dispatch(ready, mine);
                   return;
                 }
                 // The callback's thread belongs to somebody else: go on on the pool.
                 const int64_t queued = Now();
                 for (size_t i = 0; i < ready.size(); ++i) HandOut(ready[i], queued);
                 if (ended) Finish();
               });
  return ended_here;
}

void FrameStep::HandOut(const Task& task, int64_t queued) {
  plan_.device().pool()->Schedule([this, task, queued] { Process(task, queued); });
}

bool FrameStep::Complete(const Task& task, const Status& status, uint64_t dead_outputs,
                         std::vector<Task>* ready) {
  bool ended = false;
  bool cancel_rest = false;
  if (request_.progress != nullptr) request_.progress->NodeEnded();
  {
    MutexLock lock(mu_);
    if (!status.ok()) {
      Fail(FailedIn(task.node, *task.iteration, status));
    } else if (status_.ok()) {
      const FlowNode& flow = flows_[task.node];
      ReleaseInputs(task.node, task.iteration);
      for (int32_t i = 0; i < nodes_[task.node].num_outputs; ++i) {
        const int32_t slot = flow.first_output + i;
        if (task.iteration->readers[slot] == 0) task.iteration->slots[slot] = Tensor();
      }
      Deliver(task.node, task.iteration, false, dead_outputs);
      EndNode(task.iteration);
      Settle(ready);
    }
    ended = --active_ == 0;
    cancel_rest = std::exchange(cancel_rest_, false);
  }
  // Outside of the lock: what waits in the step is woken and comes back here.
  if (cancel_rest && request_.cancellation != nullptr)
    request_.cancellation->Cancel(Cancelled("another node of the step failed"));
  return ended;
}

void FrameStep::Fail(const Status& status) {
  if (!status_.ok()) return;
  status_ = status;
  cancel_rest_ = true;
}

Status FrameStep::FailedIn(int32_t node, const Iteration& iteration, const Status& status) const {
  const PlanNode& plan_node = nodes_[node];
  if (iteration.frame->index == 0) return FailedNode(plan_node, status);
  const std::string where =
      Format(" (iteration {} of the loop '{}')", iteration.number, iteration.plan->name);
  return FailedNode(plan_node, Status(status.code(), status.message() + where));
}

// ---- values ----

void FrameStep::MakeReady(int32_t node, Iteration* iteration) {
  ++iteration->busy;
  const FlowNode& flow = flows_[node];
  const bool computes = nodes_[node].kernel != nullptr && !flow.forwards &&
                        flow.constant == nullptr && !iteration->counts[flow.local].is_dead;
  if (!computes) {
    directed_.push_back({node, iteration, 0});
    return;
  }
  const bool at_once = flow.is_brief && HasSmallInputs(node, *iteration);
  (at_once ? directed_ : kernels_).push_back({node, iteration, LastUses(node, *iteration)});
}

bool FrameStep::HasSmallInputs(int32_t node, const Iteration& iteration) const {
  constexpr int64_t kFewElements = 64;
  Tensor* const* inputs = iteration.inputs.data() + flows_[node].first_input;
  for (int32_t i = 0; i < nodes_[node].num_inputs; ++i) {
    if (inputs[i]->num_elements() > kFewElements) return false;
  }
  return true;
}

bool FrameStep::IsLastUse(int32_t node, int32_t i, const Iteration& iteration) const {
  const FlowInput& input = iteration.plan->inputs[flows_[node].first_input + i];
  return input.place == FlowInput::Place::kIteration && iteration.readers[input.index] == 1;
}

uint64_t FrameStep::LastUses(int32_t node, const Iteration& iteration) const {
  uint64_t mask = 0;
  for (int32_t i = 0; i < nodes_[node].num_inputs && i < 64; ++i) {
    if (IsLastUse(node, i, iteration)) mask |= uint64_t{1} << i;
  }
  return mask;
}

void FrameStep::ReleaseInput(int32_t node, int32_t i, Iteration* iteration) {
  const FramePlan::Frame& frame = *iteration->plan;
  const FlowInput& input = frame.inputs[flows_[node].first_input + i];
  if (input.place != FlowInput::Place::kIteration) return;
  if (--iteration->readers[input.index] == 0) iteration->slots[input.index] = Tensor();
}

void FrameStep::ReleaseInputs(int32_t node, Iteration* iteration) {
  for (int32_t i = 0; i < nodes_[node].num_inputs; ++i) ReleaseInput(node, i, iteration);
}

Status FrameStep::Forward(int32_t node, int32_t i, Iteration* iteration, Tensor* to) {
  const PlanNode& plan_node = nodes_[node];
  Tensor* const* inputs = iteration->inputs.data() + flows_[node].first_input;
  if (plan_node.reads_refs) {
    std::vector<Tensor> values;
    std::vector<Tensor*> pointers;
    TRY(ReadVariables(plan_node, inputs, &values, &pointers));
    *to = *pointers[i];
  } else if (IsLastUse(node, i, *iteration)) {
    *to = std::move(*inputs[i]);
  } else {
    *to = *inputs[i];
  }
  return OkStatus();
}

void FrameStep::Deliver(int32_t node, Iteration* to, bool all_dead, uint64_t dead_outputs) {
  const FlowNode& flow = flows_[node];
  for (int32_t i = 0; i < flow.num_edges; ++i) {
    const FlowEdge& edge = edges_[flow.first_edge + i];
    const bool dead =
        all_dead || (edge.port >= 0 && edge.port < 64 && (dead_outputs >> edge.port & 1) != 0);
    Arrive(edge, to, dead, flow.flow == Flow::kEnter);
  }
}

void FrameStep::Arrive(const FlowEdge& edge, Iteration* to, bool dead, bool from_enter) {
  const FlowNode& flow = flows_[edge.consumer];
  FlowCount& count = to->counts[flow.local];
  if (flow.flow != Flow::kMerge) {
    // Nothing follows from a dead Exit or NextIteration: see Note [frames].
    if (dead && (flow.flow == Flow::kExit || flow.flow == Flow::kNextIteration)) return;
    count.is_dead |= dead;
  } else if (edge.port >= 0) {
    const bool settled = flow.at_hand >= 0 || count.arrived >= 0 || count.is_dead;
    if (!dead && settled) {
      ReleaseInput(edge.consumer, edge.input, to);  // came second: nobody will read it
      return;
    }
    if (dead) {
      // The back edge of a loop brings nothing in the first iteration, so a dead Enter decides.
      ++count.num_dead;
      if (settled || (!from_enter && count.num_dead < nodes_[edge.consumer].num_inputs)) return;
      count.is_dead = true;
    } else {
      count.arrived = edge.input;
    }
  }
  if (--count.waits == 0) MakeReady(edge.consumer, to);
}

// ---- nodes that direct values ----

void FrameStep::Settle(std::vector<Task>* ready) {
  while (!directed_.empty() && status_.ok()) {
    const Task task = directed_.back();
    directed_.pop_back();
    const Cancellation* cancellation = request_.cancellation;
    const Status status = cancellation != nullptr && cancellation->IsCancelled()
                              ? cancellation->status()
                              : Direct(task);
    if (!status.ok()) Fail(FailedIn(task.node, *task.iteration, status));
  }
  if (!status_.ok()) {
    directed_.clear();
    kernels_.clear();
  }
  ready->insert(ready->end(), kernels_.begin(), kernels_.end());
  active_ += static_cast<int64_t>(kernels_.size());
  kernels_.clear();
}

Status FrameStep::Direct(const Task& task) {
  const auto [node, iteration, last_use] = task;
  const FlowNode& flow = flows_[node];
  const bool dead = iteration->counts[flow.local].is_dead;
  switch (flow.flow) {
    case Flow::kEnter:
      TRY(DoEnter(node, iteration, dead));
      break;
    case Flow::kExit:
      if (!dead) TRY(DoExit(node, iteration));
      break;
    case Flow::kNextIteration:
      if (!dead) TRY(DoNextIteration(node, iteration));
      break;
    case Flow::kSwitch:
      if (dead) {
        Deliver(node, iteration, true, 0);
      } else {
        TRY(DoSwitch(node, iteration));
      }
      break;
    case Flow::kMerge:
      if (dead) {
        Deliver(node, iteration, true, 0);
      } else {
        TRY(DoMerge(node, iteration));
      }
      break;
    case Flow::kControlTrigger:
      Deliver(node, iteration, false, 0);
      break;
    case Flow::kLoopCond:
    case Flow::kNone:  // dead, or a value that is at hand
      if (!dead) TRY(PassOn(task));
      Deliver(node, iteration, dead, 0);
      break;
  }
  if (flow.flow != Flow::kMerge) ReleaseInputs(node, iteration);
  EndNode(iteration);
  return OkStatus();
}

Status FrameStep::PassOn(const Task& task) {
  const auto [node, iteration, last_use] = task;
  const FlowNode& flow = flows_[node];
  const PlanNode& plan_node = nodes_[node];
  if (plan_node.num_outputs == 0 || iteration->readers[flow.first_output] == 0) return OkStatus();
  Tensor* const outputs = iteration->slots + flow.first_output;
  if (flow.constant != nullptr) {
    *outputs = *flow.constant;
  } else if (flow.forwards || flow.flow == Flow::kLoopCond) {
    TRY(Forward(node, 0, iteration, outputs));
  } else {
    Call call(&resources_);
    Tensor* const* inputs = iteration->inputs.data() + flow.first_input;
    TRY(Compute(plan_node, inputs, outputs, last_use, 0, &call));
  }
  return OkStatus();
}

Status FrameStep::DoSwitch(int32_t node, Iteration* iteration) {
  const FlowNode& flow = flows_[node];
  // A predicate that is a reference is read; the branch of a value is found in place.
  Tensor read;
  if (nodes_[node].reads_refs) TRY(Forward(node, 1, iteration, &read));
  const Tensor& pred = read.initialized() ? read : *iteration->inputs[flow.first_input + 1];
  if (pred.num_elements() != 1)
    return InvalidArgument("pred must be a scalar, but it has shape {}", pred.shape());
  const int32_t taken = *pred.data<bool>() ? 1 : 0;
  const int32_t slot = flow.first_output + taken;
  if (iteration->readers[slot] > 0) TRY(Forward(node, 0, iteration, &iteration->slots[slot]));
  Deliver(node, iteration, false, ~(uint64_t{1} << taken));
  return OkStatus();
}

Status FrameStep::DoMerge(int32_t node, Iteration* iteration) {
  const FlowNode& flow = flows_[node];
  const int32_t chosen = flow.at_hand >= 0 ? flow.at_hand : iteration->counts[flow.local].arrived;
  if (iteration->readers[flow.first_output] > 0)
    TRY(Forward(node, chosen, iteration, &iteration->slots[flow.first_output]));
  ReleaseInput(node, chosen, iteration);  // the others let go when they come
  if (iteration->readers[flow.first_output + 1] > 0)
    iteration->slots[flow.first_output + 1] = Tensor::Scalar(chosen);
  Deliver(node, iteration, false, 0);
  return OkStatus();
}

Status FrameStep::DoEnter(int32_t node, Iteration* iteration, bool dead) {
  const FlowNode& flow = flows_[node];
  const FramePlan::Frame& frame = frames_.frames[flow.output_frame];
  FrameRun* run = iteration->children[frame.index_in_parent];
  if (run == nullptr) {
    run = state_->frames->StartFrame(flow.output_frame, iteration);
    state_->frames->StartIteration(run);
    ++iteration->busy;
  }
  Iteration* first = run->iterations.front();
  if (dead) {
    if (flow.is_invariant) run->invariant_is_dead[flow.first_output] = 1;
  } else {
    Tensor* const values = flow.is_invariant ? run->invariants.data() : first->slots;
    TRY(Forward(node, 0, iteration, &values[flow.first_output]));
  }
  Deliver(node, first, dead, 0);
  if (--run->enters_left > 0) return OkStatus();
  if (!run->deferred.empty() && MayBeginNext(*run)) BeginNext(run);
  EndIterations(run);
  return OkStatus();
}

Status FrameStep::DoExit(int32_t node, Iteration* iteration) {
  const FlowNode& flow = flows_[node];
  FrameRun* run = iteration->frame;
  if (std::exchange(run->exited[flow.exit], 1) != 0)
    return InvalidArgument(
        "a value leaves the loop for the second time: an Exit must be reached "
        "in the last iteration alone");
  if (run->parent->readers[flow.first_output] > 0)
    TRY(Forward(node, 0, iteration, &run->parent->slots[flow.first_output]));
  Deliver(node, run->parent, false, 0);
  return OkStatus();
}

Status FrameStep::DoNextIteration(int32_t node, Iteration* iteration) {
  const FlowNode& flow = flows_[node];
  FrameRun* run = iteration->frame;
  Iteration* next = nullptr;
  if (iteration != run->iterations.back()) {
    next = run->iterations[iteration->number + 1 - run->iterations.front()->number];
  } else if (MayBeginNext(*run)) {
    next = BeginNext(run);
  } else {
    return Forward(node, 0, iteration, &run->deferred.emplace_back(node, Tensor()).value);
  }
  if (next->readers[flow.first_output] > 0)
    TRY(Forward(node, 0, iteration, &next->slots[flow.first_output]));
  Deliver(node, next, false, 0);
  return OkStatus();
}

// ---- iterations ----

bool FrameStep::MayBeginNext(const FrameRun& run) const {
  return run.enters_left == 0 && static_cast<int64_t>(run.iterations.size()) <
                                     frames_.frames[run.index].parallel_iterations;
}

Iteration* FrameStep::BeginNext(FrameRun* run) {
  Iteration* next = state_->frames->StartIteration(run);
  // A loop moves on even if nothing in it is handed out.
  if (request_.progress != nullptr) request_.progress->NodeEnded();
  const FramePlan::Frame& frame = frames_.frames[run->index];
  BringInvariants(run, next);
  for (const int32_t node : frame.starters) MakeReady(node, next);
  for (FrameRun::Deferred& deferred : run->deferred) {
    const FlowNode& flow = flows_[deferred.node];
    if (next->readers[flow.first_output] > 0)
      next->slots[flow.first_output] = std::move(deferred.value);
    Deliver(deferred.node, next, false, 0);
  }
  run->deferred.clear();
  return next;
}

// The waits of later iterations do not count invariants: only merges and dead ones take note.
void FrameStep::BringInvariants(FrameRun* run, Iteration* iteration) {
  const FramePlan::Frame& frame = frames_.frames[run->index];
  for (size_t i = 0; i < frame.invariants.size(); ++i) {
    const bool dead = run->invariant_is_dead[i] != 0;
    if (!dead && !frame.merges_invariants) continue;
    const FlowNode& flow = flows_[frame.invariants[i]];
    for (int32_t e = 0; e < flow.num_edges; ++e) {
      const FlowEdge& edge = edges_[flow.first_edge + e];
      const FlowNode& consumer = flows_[edge.consumer];
      if (consumer.flow == Flow::kMerge && edge.port >= 0) {
        Arrive(edge, iteration, dead, true);
      } else if (dead) {
        iteration->counts[consumer.local].is_dead = true;
      }
    }
  }
}

void FrameStep::EndNode(Iteration* iteration) {
  if (--iteration->busy == 0 && iteration->frame->parent != nullptr)
    EndIterations(iteration->frame);
}

void FrameStep::EndIterations(FrameRun* run) {
  if (run->enters_left > 0) return;
  while (!run->iterations.empty() && run->iterations.front()->busy == 0) {
    state_->frames->EndOldest(run);
    if (!run->deferred.empty() && MayBeginNext(*run)) BeginNext(run);
  }
  if (run->iterations.empty()) EndFrame(run);
}

void FrameStep::EndFrame(FrameRun* run) {
  Iteration* parent = run->parent;
  const FramePlan::Frame& frame = frames_.frames[run->index];
  for (size_t i = 0; i < frame.exits.size(); ++i) {
    if (run->exited[i] == 0) Deliver(frame.exits[i], parent, true, 0);
  }
  state_->frames->EndFrame(run);
  EndNode(parent);
}

}  // namespace penstock
