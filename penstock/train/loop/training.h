#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/client/output.h"
#include "penstock/client/session.h"
#include "penstock/train/loop/feeds.h"
#include "penstock/train/loop/training_place.h"

namespace penstock {

using Metrics = std::map<std::string, double>;

// Why a run ended.
enum class EndReason {
  kStepsDone,    // all that were asked for
  kInputEnded,   // all epochs that were asked for
  kStopped,      // a hook asked for it
  kInterrupted,  // SIGINT or SIGTERM
  kFailed,       // by an error
};
std::string_view ToString(EndReason reason);

struct TrainingEnd {
  EndReason reason = EndReason::kStepsDone;
  std::string message = {};  // for a person
  int64_t step = 0;          // steps done in all
  float loss = 0;            // of the last step
};

// What a step is to do besides its own work.
struct StepRequest {
  std::vector<OutputRef> fetches = {};
  bool trace = false;
};

// A run as hooks see it. Threads: the thread that trains.
class Training {
 public:
  Training(Session& session, Output<float> loss, Operation step, const RandomStreamState& streams);

  Session& session() { return session_; }
  Graph& graph() { return loss_.graph(); }
  Output<float> loss_output() const { return loss_; }
  Operation step_operation() const { return step_operation_; }

  // Steps done, those of earlier runs included, and where this run began.
  int64_t step() const { return step_; }
  int64_t first_step() const { return first_step_; }
  // How many there will be in all; 0 while that is not known.
  int64_t expected_steps() const { return expected_steps_; }
  const FeedPosition& position() const { return position_; }

  // Of the last step. What was fed and fetched is kept until the next.
  float loss() const { return loss_value_; }
  const FeedList& feeds() const { return feeds_; }
  // Null unless a hook asked for it before this step.
  const Tensor* Fetched(OutputRef ref) const;
  // Null unless the step was traced.
  const RunMetadata* trace() const { return trace_ ? &*trace_ : nullptr; }

  // Numbers by name: "loss", what the trainer fetches each step, what evaluations found.
  const Metrics& metrics() const { return metrics_; }
  void SetMetric(const std::string& name, double value);
  // How often it was set: a value that stays the same can be a new one.
  int64_t NumUpdates(const std::string& metric) const;

  // Ends the run after this step. The first reason counts.
  void Stop(std::string why);
  // The state is again as it was before this step: it does not count, and later hooks do not see
  // it. For guards.
  void DropStep();
  // Set once the run has ended.
  const TrainingEnd* end() const { return end_ ? &*end_ : nullptr; }

  // Where the run is now, for a checkpoint to keep; and goes there, before the first step.
  TrainingPlace Place();
  void GoTo(const TrainingPlace& place);
  // The step that the graph's GlobalStep counts, or 0 when it has none. For checkpoints of other
  // programs, which tell no place.
  int64_t CountedSteps();

 private:
  friend class Trainer;

  // Runs a step with feeds_ and counts it. Throws what it fails with.
  void RunStep(const StepRequest& request, const std::vector<std::pair<std::string, OutputRef>>&);

  Session& session_;
  const Output<float> loss_;
  const Operation step_operation_;
  const RandomStreamState& streams_;
  int64_t step_ = 0;
  int64_t first_step_ = 0;
  int64_t expected_steps_ = 0;
  FeedPosition position_;
  FeedList feeds_;
  float loss_value_ = 0;
  std::vector<OutputRef> fetched_refs_;
  std::vector<Tensor> fetched_;
  std::optional<RunMetadata> trace_;
  Metrics metrics_;
  std::map<std::string, int64_t> num_updates_;
  bool dropped_ = false;
  std::optional<std::string> stop_;
  std::optional<TrainingEnd> end_;
};

}  // namespace penstock
