#pragma once

namespace penstock {

class Training;
struct StepRequest;

// Something that takes part in a training run. Its functions throw Error to end the run as failed.
// Threads: called by the thread that trains.
class Hook {
 public:
  // Hooks of an earlier phase come first, whatever order they were added in: a step is judged
  // before it is reported, and kept last.
  enum class Phase { kGuard, kMeasure, kDecide, kReport, kKeep };

  virtual ~Hook() = default;
  virtual Phase phase() const { return Phase::kReport; }
  // Once, before the first step. A hook of phase kKeep restores the state here.
  virtual void Begin(Training&) {}
  // May ask for more values, or for a trace.
  virtual void BeforeStep(Training&, StepRequest&) {}
  virtual void AfterStep(Training&) {}
  virtual void AfterEpoch(Training&) {}
  // Once, however the run ended, for each hook whose Begin was called.
  virtual void End(Training&) {}
};

}  // namespace penstock
