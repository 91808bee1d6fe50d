#include "penstock/train/inspect/nan_guard.h"

#include <cmath>
#include <optional>
#include <vector>

#include "penstock/client/error.h"
#include "penstock/core/log.h"
#include "penstock/train/inspect/bad_node.h"
#include "penstock/train/loop/snapshot.h"
#include "penstock/train/loop/training.h"

namespace penstock {
namespace {

class NanGuardHook final : public Hook {
 public:
  explicit NanGuardHook(const NanGuard& settings) : settings_(settings) {
    if (settings.snapshot_every <= 0)
      throw Error(InvalidArgument("NaN guard: snapshot_every must be positive, got {}",
                                  settings.snapshot_every));
  }

  Phase phase() const override { return Phase::kGuard; }

  void Begin(Training& training) override {
    const std::vector<Parameter> variables = AllVariables(training.graph());
    past_.emplace(training.graph(), variables);
    before_.emplace(training.graph(), variables);
    fed_.clear();
    num_skipped_ = 0;
  }

  void BeforeStep(Training& training, StepRequest&) override {
    if (!past_->taken() || static_cast<int64_t>(fed_.size()) >= settings_.snapshot_every)
      Remember(training);
    fed_.push_back(training.feeds());
  }

  void AfterStep(Training& training) override {
    if (std::isfinite(training.loss())) return;
    const Status why = InvalidArgument("loss is {} at step {}: {}", training.loss(),
                                       training.step(), WhatIsBad(training));
    GoBack(training, fed_.size() - 1);
    training.DropStep();
    if (settings_.action == NanGuard::Action::kThrow || num_skipped_ >= settings_.max_skipped)
      throw Error(why);
    ++num_skipped_;
    Log(LogLevel::kWarning, why.message() + "; the batch is skipped");
    Remember(training);
  }

 private:
  void Remember(Training& training) {
    past_->Take(training.session());
    fed_.clear();
  }

  // To the state before step `index` of those that were fed since the snapshot. Steps give the same
  // bits again: those in between are done once more.
  void GoBack(Training& training, size_t index) {
    past_->Put(training.session(), /*with_streams=*/true);
    for (size_t i = 0; i < index; ++i) Redo(training, i);
  }

  void Redo(Training& training, size_t index) {
    (void)OrThrow(RunStep(training.session(), fed_[index], {training.loss_output().ref()},
                          {training.step_operation().node()}));
  }

  // Step `index`, ready to be looked at.
  Replay Prepare(Training& training, size_t index) {
    GoBack(training, index);
    before_->Take(training.session());
    Session& session = training.session();
    return {session,
            training.graph(),
            {training.loss_output().ref().node, training.step_operation().node()},
            fed_[index],
            [this, &session] { before_->Put(session, /*with_streams=*/true); }};
  }

  std::string WhatIsBad(Training& training) {
    const size_t last = fed_.size() - 1;
    ValueSet known;
    if (last > 0) known = BadValues(Prepare(training, last - 1));
    const Replay replay = Prepare(training, last);
    const BadValue bad = FirstBadValue(replay, known);
    if (bad.ref.node == kNoNode) return WithoutCulprit(training, last);
    std::string text = "the first value that is not finite is " + Describe(replay, bad);
    // The step before made the variable so.
    if (!bad.is_fed && ReadsState(training.graph(), bad.ref.node) && last > 0)
      text += ". In the step before: " + WhatSpoilsState(training, last - 1);
    return text;
  }

  std::string WhatSpoilsState(Training& training, size_t index) {
    ValueSet known;
    if (index > 0) known = BadValues(Prepare(training, index - 1));
    const Replay replay = Prepare(training, index);
    const BadValue bad = FirstBadValue(replay, known);
    if (bad.ref.node != kNoNode)
      return "the first value that is not finite is " + Describe(replay, bad);
    GoBack(training, index);
    Redo(training, index);
    before_->Take(training.session());
    return "all values are finite, but " + WhatOverflows(replay) +
           " overflows: is the learning rate too high?";
  }

  // The update of the first variable that is not finite now.
  std::string WhatOverflows(const Replay& replay) const {
    for (size_t i = 0; i < before_->values().size(); ++i) {
      if (!CountNonFinite(before_->values()[i]).any()) continue;
      const Parameter& variable = before_->variables()[i];
      const NodeId update = UpdateOf(replay, variable.handle);
      return Format("the update of {} ({})", variable.name,
                    update == kNoNode ? "unknown" : replay.graph.Describe(update));
    }
    return "an update";
  }

  std::string WithoutCulprit(Training& training, size_t last) {
    GoBack(training, last);
    const float again =
        Array<float>(OrThrow(RunStep(training.session(), fed_[last], {training.loss_output().ref()},
                                     {training.step_operation().node()}))[0]);
    if (!std::isfinite(again)) return "it comes from inside a loop, whose values cannot be seen";
    return Format(
        "done again, the same step has a loss of {}: it depends on more than variables, "
        "feeds and seeds",
        again);
  }

  const NanGuard settings_;
  std::optional<Snapshot> past_;    // the state before fed_[0]
  std::optional<Snapshot> before_;  // the state before the step that is looked at
  std::vector<FeedList> fed_;       // since past_
  int64_t num_skipped_ = 0;
};

}  // namespace

std::unique_ptr<Hook> MakeHook(const NanGuard& settings) {
  return std::make_unique<NanGuardHook>(settings);
}

}  // namespace penstock
