#include "penstock/train/loop/evaluation.h"

#include "penstock/client/error.h"

namespace penstock {
namespace {

using NamedOutputs = std::vector<std::pair<std::string, Output<float>>>;

// Runs with these feeds; returns the scalars.
std::vector<double> RunScalars(Training& training, const FeedList& feeds,
                               const NamedOutputs& outputs, const std::vector<NodeId>& targets) {
  std::vector<OutputRef> fetches;
  for (const auto& [name, output] : outputs) fetches.push_back(output.ref());
  std::vector<double> scalars;
  for (const Tensor& value : OrThrow(RunStep(training.session(), feeds, fetches, targets)))
    scalars.push_back(Array<float>(value));
  return scalars;
}

Metrics MeanOverBatches(Training& training, FeedSource& source, const NamedOutputs& metrics) {
  std::vector<double> sums(metrics.size());
  double num_examples = 0;
  FeedList feeds;
  for (source.StartEpoch(0); source.Next(feeds);) {
    const double weight = static_cast<double>(NumExamples(feeds));
    const std::vector<double> values = RunScalars(training, feeds, metrics, {});
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += weight * values[i];
    num_examples += weight;
  }
  if (num_examples == 0) throw Error(FailedPrecondition("an evaluation has no batches"));
  Metrics means;
  for (size_t i = 0; i < sums.size(); ++i) means[metrics[i].first] = sums[i] / num_examples;
  return means;
}

Metrics AddedUp(Training& training, FeedSource& source,
                const std::vector<std::pair<std::string, Metric<float>>>& metrics) {
  std::vector<NodeId> resets, updates;
  NamedOutputs values;
  for (const auto& [name, metric] : metrics) {
    resets.push_back(metric.reset.node());
    updates.push_back(metric.update.node());
    values.emplace_back(name, metric.value);
  }
  RunScalars(training, {}, {}, resets);
  FeedList feeds;
  for (source.StartEpoch(0); source.Next(feeds);) RunScalars(training, feeds, {}, updates);
  const std::vector<double> found = RunScalars(training, {}, values, {});
  Metrics by_name;
  for (size_t i = 0; i < found.size(); ++i) by_name[values[i].first] = found[i];
  return by_name;
}

class EvaluationHook final : public Hook {
 public:
  explicit EvaluationHook(const Evaluation& settings) : settings_(settings) {
    if (settings.measure == nullptr) throw Error(InvalidArgument("an evaluation measures nothing"));
  }

  Phase phase() const override { return Phase::kMeasure; }

  void Begin(Training&) override { measured_at_ = -1; }

  void AfterStep(Training& training) override {
    if (settings_.every_steps > 0 && training.step() % settings_.every_steps == 0)
      Measure(training);
  }

  void AfterEpoch(Training& training) override {
    if (settings_.every_epochs > 0 && training.position().epoch % settings_.every_epochs == 0)
      Measure(training);
  }

  void End(Training& training) override {
    const EndReason reason = training.end()->reason;
    if (settings_.at_end && reason != EndReason::kFailed && reason != EndReason::kInterrupted)
      Measure(training);
  }

 private:
  void Measure(Training& training) {
    if (measured_at_ == training.step()) return;
    measured_at_ = training.step();
    for (const auto& [name, value] : settings_.measure(training))
      training.SetMetric(settings_.name + "/" + name, value);
  }

  const Evaluation settings_;
  int64_t measured_at_ = -1;
};

}  // namespace

std::unique_ptr<Hook> MakeHook(const Evaluation& settings) {
  return std::make_unique<EvaluationHook>(settings);
}

std::function<Metrics(Training&)> OverBatches(std::unique_ptr<FeedSource> source,
                                              NamedOutputs metrics) {
  return [source = std::shared_ptr<FeedSource>(std::move(source)), metrics = std::move(metrics)](
             Training& training) { return MeanOverBatches(training, *source, metrics); };
}

std::function<Metrics(Training&)> OverBatches(
    std::unique_ptr<FeedSource> source,
    std::vector<std::pair<std::string, Metric<float>>> metrics) {
  return [source = std::shared_ptr<FeedSource>(std::move(source)), metrics = std::move(metrics)](
             Training& training) { return AddedUp(training, *source, metrics); };
}

}  // namespace penstock
