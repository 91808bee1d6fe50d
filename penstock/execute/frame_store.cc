#include "penstock/execute/frame_store.h"

#include "penstock/execute/step_state.h"

namespace penstock {

StepState::StepState() = default;
StepState::~StepState() = default;

FrameStore::FrameStore(const FramePlan& plan, Tensor* slots)
    : plan_(plan), slots_(slots), idle_(plan.frames.size()) {
  root_.made.push_back(NewIteration(&root_));
  root_.iterations.push_back(root_.made[0].get());
}

FrameStore::~FrameStore() = default;

std::unique_ptr<Iteration> FrameStore::NewIteration(FrameRun* run) const {
  const FramePlan::Frame& frame = plan_.frames[run->index];
  auto made = std::make_unique<Iteration>();
  made->frame = run;
  made->plan = &frame;
  made->slots = slots_;
  if (run->index != 0) {
    made->own_slots.resize(static_cast<size_t>(frame.num_slots));
    made->slots = made->own_slots.data();
  }
  made->inputs.reserve(frame.inputs.size());
  for (const FlowInput& input : frame.inputs) {
    Tensor* const base = input.place == FlowInput::Place::kPlan        ? slots_
                         : input.place == FlowInput::Place::kIteration ? made->slots
                                                                       : run->invariants.data();
    made->inputs.push_back(base + input.index);
  }
  made->children.assign(static_cast<size_t>(frame.num_children), nullptr);
  return made;
}

void FrameStore::Reset(Iteration* iteration) const {
  const FramePlan::Frame& frame = *iteration->plan;
  iteration->busy = 0;
  iteration->counts = iteration->number == 0 ? frame.first_counts : frame.counts;
  iteration->readers = frame.readers;
}

Iteration* FrameStore::StartRoot() {
  Reset(root_.iterations[0]);
  return root_.iterations[0];
}

FrameRun* FrameStore::StartFrame(int32_t index, Iteration* parent) {
  const FramePlan::Frame& frame = plan_.frames[index];
  if (idle_[index].empty()) {
    made_.push_back(std::make_unique<FrameRun>());
    made_.back()->index = index;
    made_.back()->invariants.resize(frame.invariants.size());
    idle_[index].push_back(made_.back().get());
  }
  FrameRun* run = idle_[index].back();
  idle_[index].pop_back();
  run->parent = parent;
  run->enters_left = frame.num_enters;
  run->num_started = 0;
  run->invariant_is_dead.assign(frame.invariants.size(), 0);
  run->exited.assign(frame.exits.size(), 0);
  parent->children[static_cast<size_t>(frame.index_in_parent)] = run;
  return run;
}

Iteration* FrameStore::StartIteration(FrameRun* run) {
  if (run->spare.empty()) {
    run->made.push_back(NewIteration(run));
    run->spare.push_back(run->made.back().get());
  }
  Iteration* iteration = run->spare.back();
  run->spare.pop_back();
  iteration->number = run->num_started++;
  Reset(iteration);
  run->iterations.push_back(iteration);
  return iteration;
}

void FrameStore::EndOldest(FrameRun* run) {
  Iteration* iteration = run->iterations.front();
  run->iterations.pop_front();
  for (Tensor& value : iteration->own_slots) {
    if (value.initialized()) value = Tensor();
  }
  run->spare.push_back(iteration);
}

void FrameStore::EndFrame(FrameRun* run) {
  const FramePlan::Frame& frame = plan_.frames[run->index];
  for (Tensor& value : run->invariants) value = Tensor();
  run->deferred.clear();
  run->parent->children[static_cast<size_t>(frame.index_in_parent)] = nullptr;
  run->parent = nullptr;
  idle_[run->index].push_back(run);
}

void FrameStore::Clear() {
  for (const std::unique_ptr<FrameRun>& run : made_) {
    if (run->parent == nullptr) continue;
    while (!run->iterations.empty()) EndOldest(run.get());
    EndFrame(run.get());
  }
}

const FrameRun* FrameStore::FirstUnfinished() const {
  for (const std::unique_ptr<FrameRun>& run : made_) {
    if (run->parent != nullptr) return run.get();
  }
  return nullptr;
}

}  // namespace penstock
