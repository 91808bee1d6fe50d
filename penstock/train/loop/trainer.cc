#include "penstock/train/loop/trainer.h"

#include <algorithm>
#include <exception>

#include "penstock/client/error.h"
#include "penstock/core/checked.h"
#include "penstock/train/loop/signals.h"

namespace penstock {
namespace {

class CallbackHook final : public Hook {
 public:
  CallbackHook(std::function<void(Training&)> on_step, std::function<void(Training&)> on_epoch)
      : on_step_(std::move(on_step)), on_epoch_(std::move(on_epoch)) {}

  void AfterStep(Training& training) override {
    if (on_step_) on_step_(training);
  }
  void AfterEpoch(Training& training) override {
    if (on_epoch_) on_epoch_(training);
  }

 private:
  const std::function<void(Training&)> on_step_, on_epoch_;
};

std::string MessageOf(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

}  // namespace

Trainer::Trainer(Session& session, Output<float> loss, Operation step, TrainerOptions options)
    : session_(session),
      loss_(loss),
      step_(step),
      options_(std::move(options)),
      streams_(loss.graph()) {
  for (const auto& [name, output] : options_.metrics) metrics_.emplace_back(name, output.ref());
}

Trainer& Trainer::Use(std::unique_ptr<Hook> hook) {
  const auto later = [](Hook::Phase phase, const std::unique_ptr<Hook>& other) {
    return phase < other->phase();
  };
  const auto at = std::upper_bound(hooks_.begin(), hooks_.end(), hook->phase(), later);
  hooks_.insert(at, std::move(hook));
  return *this;
}

Trainer& Trainer::OnStep(std::function<void(Training&)> callback) {
  return Use(std::make_unique<CallbackHook>(std::move(callback), nullptr));
}

Trainer& Trainer::OnEpoch(std::function<void(Training&)> callback) {
  return Use(std::make_unique<CallbackHook>(nullptr, std::move(callback)));
}

TrainingEnd Trainer::Run(FeedSource& source) {
  // Until the hooks have heard of the end: a checkpoint at the end is worth the wait.
  std::optional<InterruptGuard> guard;
  if (options_.catch_signals) guard.emplace();
  Training training(session_, loss_, step_, streams_);
  return RunHooked(training, source);
}

TrainingEnd Trainer::RunHooked(Training& training, FeedSource& source) {
  std::exception_ptr error;
  TrainingEnd end;
  try {
    Begin(training);
    end = Loop(training, source);
  } catch (...) {
    error = std::current_exception();
    end = {EndReason::kFailed, MessageOf(error)};
  }
  end.step = training.step();
  end.loss = training.loss();
  training.end_ = end;
  try {
    End(training);
  } catch (...) {
    if (error == nullptr) throw;  // else the first error counts
  }
  if (error != nullptr) std::rethrow_exception(error);
  return end;
}

void Trainer::Begin(Training& training) {
  num_begun_ = 0;
  training.step_ = training.first_step_ = training.CountedSteps();
  if (options_.start) training.GoTo(*options_.start);
  // What restores the state comes first, which is what keeps it.
  for (auto hook = hooks_.rbegin(); hook != hooks_.rend(); ++hook) {
    ++num_begun_;
    (*hook)->Begin(training);
  }
}

// All hooks hear of the end, also when one of them fails.
void Trainer::End(Training& training) {
  std::exception_ptr error;
  for (size_t i = hooks_.size() - num_begun_; i < hooks_.size(); ++i) {
    try {
      hooks_[i]->End(training);
    } catch (...) {
      if (error == nullptr) error = std::current_exception();
    }
  }
  if (error != nullptr) std::rethrow_exception(error);
}

TrainingEnd Trainer::Loop(Training& training, FeedSource& source) {
  TrainingEnd end;
  FeedPosition& at = training.position_;
  if (ShouldEnd(training, &end)) return end;
  source.Seek(at);
  Expect(training, source.BatchesPerEpoch());
  while (options_.epochs == 0 || at.epoch < options_.epochs) {
    const bool starts = at.batch == 0;
    while (source.Next(training.feeds_)) {
      ++at.batch;
      Step(training);
      if (ShouldEnd(training, &end)) return end;
    }
    // Without this, an input that cannot be read twice would be asked for ever.
    if (starts && at.batch == 0) break;
    Expect(training, at.batch);
    at = {at.epoch + 1, 0};
    AfterEpoch(training);
    if (ShouldEnd(training, &end)) return end;
    if (options_.epochs == 0 || at.epoch < options_.epochs) source.StartEpoch(at.epoch);
  }
  return {.reason = EndReason::kInputEnded, .message = Format("{} epochs done", at.epoch)};
}

void Trainer::Expect(Training& training, std::optional<int64_t> batches_per_epoch) const {
  int64_t steps = options_.max_steps;
  if (batches_per_epoch && options_.epochs > 0) {
    const FeedPosition& at = training.position();
    const std::optional<int64_t> all = CheckedMul(*batches_per_epoch, options_.epochs - at.epoch);
    // The rest of this epoch and those that follow.
    const int64_t left = all ? *all - at.batch : INT64_MAX - training.step();
    steps = steps > 0 ? std::min(steps, training.step() + left) : training.step() + left;
  }
  training.expected_steps_ = steps;
}

void Trainer::Step(Training& training) {
  StepRequest request;
  for (const auto& hook : hooks_) hook->BeforeStep(training, request);
  training.RunStep(request, metrics_);
  for (const auto& hook : hooks_) {
    hook->AfterStep(training);
    if (training.dropped_) break;
  }
}

void Trainer::AfterEpoch(Training& training) {
  for (const auto& hook : hooks_) hook->AfterEpoch(training);
}

bool Trainer::ShouldEnd(const Training& training, TrainingEnd* end) const {
  const int signal = options_.catch_signals ? InterruptGuard::signal() : 0;
  if (training.stop_) {
    *end = {.reason = EndReason::kStopped, .message = *training.stop_};
  } else if (signal != 0) {
    *end = {.reason = EndReason::kInterrupted,
            .message = Format("interrupted by {}", SignalName(signal))};
  } else if (options_.max_steps > 0 && training.step() >= options_.max_steps) {
    *end = {.reason = EndReason::kStepsDone, .message = Format("{} steps done", training.step())};
  } else {
    return false;
  }
  return true;
}

}  // namespace penstock
