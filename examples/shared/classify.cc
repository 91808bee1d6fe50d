#include "examples/shared/classify.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <random>

namespace examples {

using namespace penstock;

namespace {

// What is written beside the training, all of it or nothing.
struct Kept {
  Kept(Graph& g, Session& session, const std::string& folder)
      : saver(g, {.retention = {.max_to_keep = 3}}),
        sink(session, saver, folder + "/model.ckpt", "eval/accuracy"),
        logs(folder + "/logs") {}

  Saver saver;
  SaverSink sink;
  SummaryWriter logs;
};

// Remembers what the last evaluation found.
class LastAccuracy final : public Hook {
 public:
  explicit LastAccuracy(double* accuracy) : accuracy_(accuracy) {}
  void End(Training& run) override {
    const auto it = run.metrics().find("eval/accuracy");
    if (it != run.metrics().end()) *accuracy_ = it->second;
  }

 private:
  double* accuracy_;
};

void SaveScores(Graph& g, Session& session, const Classifier& c, const std::string& folder) {
  const std::string model = folder + "/model";
  try {
    SaveModel(g, session, model, {{"images", c.images}}, {{"scores", c.scores}});
    std::printf("the model is in %s\n", model.c_str());
  } catch (const Error& error) {
    if (error.code() != Code::kAlreadyExists) throw;
    std::printf("%s holds the model of an earlier run, and is left alone\n", model.c_str());
  }
}

}  // namespace

double TrainClassifier(Graph& g, const Classifier& c, const LabelledImages& train,
                       const LabelledImages& test, const Options& options) {
  Session session(g);
  session.Run(InitVariables(g));
  std::unique_ptr<Kept> kept;
  if (!options.out.empty()) kept = std::make_unique<Kept>(g, session, options.out);

  double accuracy = 0;
  Trainer trainer(session, c.loss, c.step,
                  {.max_steps = options.steps, .epochs = options.epochs, .metrics = {}});
  trainer.Use(Progress{});
  trainer.Use(Evaluation{.measure = OverBatches(FeedsOf(test.Batch(256), c.images, c.labels),
                                                {{"accuracy", c.accuracy}})});
  trainer.Use(std::make_unique<LastAccuracy>(&accuracy));
  trainer.OnEpoch([&](Training& run) {
    std::printf("epoch %lld: %.2f %% of the held-out images are told right\n",
                static_cast<long long>(run.position().epoch),
                100 * run.metrics().at("eval/accuracy"));
    std::fflush(stdout);
  });
  if (kept) {
    trainer.Use(Checkpoints{.sink = &kept->sink, .every_seconds = 60});
    trainer.Use(Summaries{.writer = &kept->logs});
  }
  const auto batches = train.Shuffle(1).Batch(options.batch).Prefetch(4);
  const TrainingEnd end = trainer.Run(FeedsOf(batches, c.images, c.labels));
  std::printf("%lld steps: %s\n", static_cast<long long>(end.step), end.message.c_str());
  std::printf("accuracy on %lld held-out images: %.2f %%\n",
              static_cast<long long>(test.Size().value_or(0)), 100 * accuracy);
  if (kept) {
    SaveScores(g, session, c, options.out);
    std::printf("checkpoints are in %s, logs for TensorBoard in %s/logs\n", options.out.c_str(),
                options.out.c_str());
  }
  return accuracy;
}

}  // namespace examples
