#include <cmath>
#include <memory>
#include <optional>

#include "penstock/client/error.h"
#include "penstock/core/log.h"
#include "penstock/train/loop/evaluation.h"
#include "penstock/train/loop/snapshot.h"

namespace penstock {
namespace {

// The variables of the model and its optimizer, but not the counts of steps: going back to the best
// weights does not undo time.
std::vector<Parameter> VariablesToRestore(const Graph& graph) {
  std::vector<Parameter> variables;
  const auto step = graph.collections.find("global_step");
  for (const Parameter& variable : AllVariables(graph)) {
    const bool counts = step != graph.collections.end() && !step->second.empty() &&
                        step->second[0] == variable.handle;
    if (!counts) variables.push_back(variable);
  }
  return variables;
}

class EarlyStopHook final : public Hook {
 public:
  explicit EarlyStopHook(const EarlyStop& settings) : settings_(settings) {
    if (settings.patience <= 0)
      throw Error(
          InvalidArgument("early stop: patience must be positive, got {}", settings.patience));
  }

  Phase phase() const override { return Phase::kDecide; }

  void Begin(Training& training) override {
    best_.reset();
    num_worse_ = num_seen_ = 0;
    if (settings_.restore_best)
      snapshot_.emplace(training.graph(), VariablesToRestore(training.graph()));
  }

  void AfterStep(Training& training) override { Look(training); }
  void AfterEpoch(Training& training) override { Look(training); }

  void End(Training& training) override {
    Look(training);
    if (training.end()->reason == EndReason::kFailed) return;
    if (!best_) {
      Log(LogLevel::kWarning, Format("early stop: there was no metric {}; there are{}",
                                     settings_.metric, NamesOf(training.metrics())));
    } else if (num_worse_ > 0 && snapshot_) {
      snapshot_->Put(training.session(), /*with_streams=*/false);
      training.SetMetric(settings_.metric, *best_);
      Log(LogLevel::kInfo, Format("early stop: back to the variables of step {}, where {} was {}",
                                  best_step_, settings_.metric, *best_));
    }
  }

 private:
  void Look(Training& training) {
    const int64_t num_updates = training.NumUpdates(settings_.metric);
    if (num_updates == num_seen_) return;
    num_seen_ = num_updates;
    const double value = training.metrics().at(settings_.metric);
    if (IsBetter(value)) {
      best_ = value;
      best_step_ = training.step();
      num_worse_ = 0;
      if (snapshot_) snapshot_->Take(training.session());
    } else if (++num_worse_ >= settings_.patience) {
      training.Stop(Format("{} has not become better than {} (step {}) {} times", settings_.metric,
                           best_ ? Format("{}", *best_) : "nothing", best_step_, num_worse_));
    }
  }

  // A value that is not a number is never better.
  bool IsBetter(double value) const {
    if (std::isnan(value)) return false;
    if (!best_) return true;
    return settings_.better == EarlyStop::Better::kLower ? value < *best_ - settings_.min_delta
                                                         : value > *best_ + settings_.min_delta;
  }

  static std::string NamesOf(const Metrics& metrics) {
    std::string names;
    for (const auto& [name, value] : metrics) names += " " + name;
    return names;
  }

  const EarlyStop settings_;
  std::optional<Snapshot> snapshot_;
  std::optional<double> best_;
  int64_t best_step_ = 0;
  int64_t num_worse_ = 0;  // since then
  int64_t num_seen_ = 0;   // values
};

}  // namespace

std::unique_ptr<Hook> MakeHook(const EarlyStop& settings) {
  return std::make_unique<EarlyStopHook>(settings);
}

}  // namespace penstock
