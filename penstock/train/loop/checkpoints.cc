#include "penstock/train/loop/checkpoints.h"

#include <chrono>

#include "penstock/client/error.h"
#include "penstock/core/log.h"

namespace penstock {
namespace {

using Clock = std::chrono::steady_clock;

class CheckpointHook final : public Hook {
 public:
  explicit CheckpointHook(const Checkpoints& settings) : settings_(settings) {
    if (settings.sink == nullptr) throw Error(InvalidArgument("checkpoints need a sink"));
  }

  Phase phase() const override { return Phase::kKeep; }

  void Begin(Training& training) override {
    if (settings_.resume) Restore(training);
    saved_step_ = training.step();
    saved_at_ = Clock::now();
  }

  void AfterStep(Training& training) override {
    if (!IsDue(training)) return;
    const Status status = Save(training);
    if (status.ok()) return;
    if (settings_.on_error == OnWriteError::kThrow) throw Error(status);
    Log(LogLevel::kWarning, Format("checkpoint at step {}: {}; training goes on without it",
                                   training.step(), status.ToString()));
  }

  // What a failed run leaves is not worth keeping: a step may have been done in part.
  void End(Training& training) override {
    const bool failed = training.end()->reason == EndReason::kFailed;
    if (!failed && settings_.at_end && (training.step() != saved_step_ || failed_))
      OrThrow(Save(training));
    const Status finished = settings_.sink->Finish();
    if (!failed) OrThrow(finished);
  }

 private:
  bool IsDue(const Training& training) const {
    if (settings_.every_steps > 0 && training.step() % settings_.every_steps == 0) return true;
    const std::chrono::duration<double> waited = Clock::now() - saved_at_;
    return settings_.every_seconds > 0 && waited.count() >= settings_.every_seconds;
  }

  void Restore(Training& training) {
    const auto kept = OrThrow(settings_.sink->Restore(TrainingPlace::Names()));
    if (!kept) return;
    if (kept->empty()) {
      // Another program's: the variables are all there is.
      training.GoTo({.step = training.CountedSteps()});
    } else {
      training.GoTo(OrThrow(TrainingPlace::FromTensors(*kept)));
    }
  }

  Status Save(Training& training) {
    // Also when it fails: a disk that is full is not asked again at each step.
    saved_at_ = Clock::now();
    saved_step_ = training.step();
    const Status status =
        settings_.sink->Save(training.step(), training.metrics(), training.Place().ToTensors());
    failed_ = !status.ok();
    return status;
  }

  const Checkpoints settings_;
  int64_t saved_step_ = 0;
  bool failed_ = false;  // the last save
  Clock::time_point saved_at_;
};

}  // namespace

std::unique_ptr<Hook> MakeHook(const Checkpoints& settings) {
  return std::make_unique<CheckpointHook>(settings);
}

}  // namespace penstock
