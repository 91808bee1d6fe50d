#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/train/loop/hook.h"
#include "penstock/train/loop/training.h"

namespace penstock {

struct TrainerOptions {
  int64_t max_steps = 0;  // in all, earlier runs included; 0: as many as the input has
  int64_t epochs = 1;     // of the input, in all
  // Scalars of the graph to read with each step, by name: metrics() of the run has them.
  std::vector<std::pair<std::string, Output<float>>> metrics = {};
  // Where to begin, after the caller has restored the variables of a run. (A hook that restores a
  // checkpoint does all of it.)
  std::optional<TrainingPlace> start = {};
  // End after the current step at the first SIGINT or SIGTERM, and at once at the second.
  bool catch_signals = true;
};

// Runs a training step over and over, and what goes with it:
//
//   Trainer trainer(session, loss, Adam{.rate = 1e-3}.Minimize(loss), {.epochs = 5});
//   trainer.Use(Progress{});
//   trainer.Use(Checkpoints{.sink = &saver, .every_steps = 500});
//   trainer.Use(EarlyStop{.metric = "eval/loss", .patience = 3});
//   trainer.OnStep([](Training& t) { ... });
//   TrainingEnd end = trainer.Run(feeds);
//
// The graph and the session must outlive it. Threads: one at a time.
class Trainer {
 public:
  Trainer(Session& session, Output<float> loss, Operation step, TrainerOptions options = {});

  // Takes part in every run. `Settings` is one of the structs of the headers of this folder.
  template <class Settings>
  requires(!std::is_pointer_v<Settings> &&
           requires(const Settings& s) { MakeHook(s); }) Trainer& Use(const Settings& settings) {
    return Use(MakeHook(settings));
  }
  Trainer& Use(std::unique_ptr<Hook> hook);
  // Calls a function after each step, or after each epoch.
  Trainer& OnStep(std::function<void(Training&)> callback);
  Trainer& OnEpoch(std::function<void(Training&)> callback);

  // Trains until something ends it, and says what. Throws when a step or a hook fails, after all
  // hooks have heard of the end.
  TrainingEnd Run(FeedSource& source);
  TrainingEnd Run(const std::unique_ptr<FeedSource>& source) { return Run(*source); }
  // From a function that fills the feeds of the next step; false: there are no more.
  template <class Next>
  requires std::is_invocable_r_v<bool, Next&, FeedList&> TrainingEnd Run(Next next) {
    return Run(FeedsFrom(NextFeeds(std::move(next))));
  }

 private:
  TrainingEnd RunHooked(Training& training, FeedSource& source);
  void Begin(Training& training);
  TrainingEnd Loop(Training& training, FeedSource& source);
  void Step(Training& training);
  void AfterEpoch(Training& training);
  void End(Training& training);
  bool ShouldEnd(const Training& training, TrainingEnd* end) const;
  void Expect(Training& training, std::optional<int64_t> batches_per_epoch) const;

  Session& session_;
  const Output<float> loss_;
  const Operation step_;
  const TrainerOptions options_;
  const RandomStreamState streams_;
  std::vector<std::pair<std::string, OutputRef>> metrics_;
  std::vector<std::unique_ptr<Hook>> hooks_;  // by phase
  size_t num_begun_ = 0;                      // of them, from the last
};

}  // namespace penstock
