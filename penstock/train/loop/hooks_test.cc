#include <gtest/gtest.h>

#include <cmath>

#include "penstock/io/event_file.h"
#include "penstock/io/file_tree.h"
#include "penstock/io/summary.h"
#include "penstock/train/loop/evaluation.h"
#include "penstock/train/loop/reports.h"
#include "penstock/train/loop/testing/small_model.h"
#include "penstock/train/loop/trainer.h"
#include "penstock/train/summary/summary_ops.h"
#include "penstock/train/testing/log_lines.h"

namespace penstock {
namespace {

TEST(Evaluation, MeansOverBatchesOfDifferentSize) {
  SmallModel model;
  const auto mean = Mean(model.x);
  Session session(model.g);
  session.Run(model.init);
  int64_t number = 0;
  const auto held_out = [&](int64_t) -> NextFeeds {
    number = 0;
    return [&](FeedList& feeds) {
      if (number == 2) return false;
      // One row of ones, then three rows of fives: the mean is 4.
      feeds = number++ == 0 ? FeedList{{model.x, Array<float>({1, 3}, {1, 1, 1})}}
                            : FeedList{{model.x, Array<float>({3, 3}, std::vector<float>(9, 5))}};
      return true;
    };
  };
  Trainer trainer(session, model.loss, model.step, {.epochs = 2});
  trainer.Use(Evaluation{
      .measure =
          OverBatches(FeedsFrom(std::function<NextFeeds(int64_t)>(held_out)), {{"mean", mean}}),
      .every_steps = 2});
  std::vector<bool> seen;
  trainer.OnStep([&](Training& t) {
    seen.push_back(t.metrics().contains("eval/mean"));
    if (seen.back()) {
      EXPECT_EQ(t.metrics().at("eval/mean"), 4);
    }
  });
  trainer.Run(model.Source(3));
  EXPECT_EQ(seen, (std::vector<bool>{false, true, true, true, true, true}));
}

TEST(Evaluation, ReadsWhatTheGraphAddsUp) {
  SmallModel model;
  const Metric<float> mean = MeanOf(model.y);
  Session session(model.g);
  session.Run(InitVariables(model.g));
  double expected = 0;
  for (int64_t i = 0; i < 3; ++i)
    for (const float y : Array<float>(model.Batch(0, i)[1].value())) expected += y / 12;
  Trainer trainer(session, model.loss, model.step, {.epochs = 2});
  trainer.Use(
      Evaluation{.measure = OverBatches(model.Source(3), {{"mean", mean}}), .name = "held_out"});
  int num_measured = 0;
  trainer.OnEpoch([&](Training& t) {
    ++num_measured;
    EXPECT_NEAR(t.metrics().at("held_out/mean"), expected, 1e-5);
  });
  trainer.Run(model.Source(2));
  EXPECT_EQ(num_measured, 2);
}

TEST(Evaluation, NoBatchesAreAnError) {
  StartedModel f;
  Trainer trainer(f.session, f.model.loss, f.model.step);
  trainer.Use(Evaluation{.measure = OverBatches(f.model.Source(0), {{"loss", f.model.loss}})});
  EXPECT_THROW(trainer.Run(f.model.Source(2)), Error);
}

// Evaluations that find these numbers, one after the other, each step.
Evaluation Scripted(std::vector<double> values) {
  return {.measure =
              [values, next = size_t{0}](Training&) mutable {
                return Metrics{{"score", values[std::min(next++, values.size() - 1)]}};
              },
          .every_steps = 1,
          .at_end = false};
}

TEST(EarlyStop, StopsAndGoesBackToTheBest) {
  StartedModel f;
  const LogLines log;
  Trainer trainer(f.session, f.model.loss, f.model.step);
  trainer.Use(Scripted({3, 2, 1.95, 2.5, 2.6, 2.7}));
  trainer.Use(EarlyStop{.metric = "eval/score", .patience = 3, .min_delta = 0.1});
  std::vector<float> best;
  trainer.OnStep([&](Training& t) {
    if (t.step() == 2) best = f.session.Run(f.model.weights).ToVector();
  });
  const TrainingEnd end = trainer.Run(f.model.Source(100));
  EXPECT_EQ(end.reason, EndReason::kStopped);
  EXPECT_EQ(end.step, 5) << "1.95 is no better than 2 by a tenth";
  EXPECT_EQ(f.session.Run(f.model.weights).ToVector(), best);
  EXPECT_EQ(static_cast<int64_t>(f.session.Run(GlobalStep(f.model.g).Read())), 5)
      << "time is not undone";
  EXPECT_NE(end.message.find("eval/score has not become better than 2 (step 2) 3 times"),
            std::string::npos)
      << end.message;
}

TEST(EarlyStop, HigherMayBeBetter) {
  StartedModel f;
  const LogLines log;
  Trainer trainer(f.session, f.model.loss, f.model.step, {.max_steps = 10});
  trainer.Use(Scripted({1, 2, 3, 4, NAN, 3, 5}));
  trainer.Use(EarlyStop{.metric = "eval/score",
                        .better = EarlyStop::Better::kHigher,
                        .patience = 2,
                        .restore_best = false});
  const TrainingEnd end = trainer.Run(f.model.Source(100));
  EXPECT_EQ(end.reason, EndReason::kStopped);
  EXPECT_EQ(end.step, 6);
}

TEST(EarlyStop, ToldWhenTheMetricIsNotThere) {
  StartedModel f;
  const LogLines log;
  Trainer trainer(f.session, f.model.loss, f.model.step, {.max_steps = 3});
  trainer.Use(EarlyStop{.metric = "eval/los"});
  trainer.Run(f.model.Source(100));
  EXPECT_TRUE(log.Has("there was no metric eval/los; there are loss")) << log.text();
  EXPECT_THROW(trainer.Use(EarlyStop{.patience = 0}), Error);
}

std::vector<io::Event> ReadEvents(const std::string& path) {
  std::vector<io::Event> events;
  Result<io::RecordReader> reader = io::RecordReader::Open(path);
  EXPECT_TRUE(reader.ok());
  std::string record;
  for (Result<bool> more = reader->Read(&record); more.ok() && *more; more = reader->Read(&record))
    events.push_back(*io::ParseEvent(record));
  return events;
}

TEST(Summaries, WritesMetricsAndSummaryOps) {
  SmallModel model;
  HistogramSummary("w", model.weights);
  const auto summary = MergeAllSummaries(model.g);
  Session session(model.g);
  session.Run(model.init);
  SummaryWriter writer(NewFolder("summaries"));
  Trainer trainer(session, model.loss, model.step, {.max_steps = 7});
  trainer.Use(Summaries{.writer = &writer, .every_steps = 3, .summary = summary});
  std::vector<float> losses;
  trainer.OnStep([&](Training& t) { losses.push_back(t.loss()); });
  trainer.Run(model.Source(100));
  const std::vector<io::Event> events = ReadEvents(writer.path());
  // The version and the graph; a loss and a histogram at steps 3 and 6; a loss at the end.
  ASSERT_EQ(events.size(), 7u);
  EXPECT_EQ(events[1].kind, io::Event::kGraph);
  EXPECT_EQ(events[2].step, 3);
  EXPECT_EQ(events[2].content, io::ScalarSummary("loss", losses[2]));
  std::vector<std::string_view> tags;
  EXPECT_TRUE(io::ParseSummaryTags(events[3].content, &tags));
  EXPECT_EQ(tags, (std::vector<std::string_view>{"w"}));
  EXPECT_EQ(events[5].step, 6);
  EXPECT_EQ(events[6].step, 7);
  EXPECT_THROW(trainer.Use(Summaries{}), Error);
}

TEST(Profile, WritesTraces) {
  StartedModel f;
  const std::string folder = NewFolder("profile") + "/traces";
  SummaryWriter writer(folder);
  Trainer trainer(f.session, f.model.loss, f.model.step, {.max_steps = 9});
  trainer.Use(Profile{.folder = folder, .every_steps = 3, .first_step = 2, .writer = &writer});
  trainer.Run(f.model.Source(100));
  for (const int64_t step : {2, 5, 8}) {
    const Result<std::string> text = io::ReadWholeFile(Format("{}/profile_{}.json", folder, step));
    ASSERT_TRUE(text.ok()) << text.status().ToString();
    EXPECT_NE(text->find("MatMul"), std::string::npos);
  }
  EXPECT_FALSE(io::FileExists(folder + "/profile_1.json"));
  writer.Flush();
  EXPECT_EQ(ReadEvents(writer.path()).size(), 4u);
}

TEST(Profile, AFolderThatCannotBeMadeIsAnError) {
  StartedModel f;
  Trainer trainer(f.session, f.model.loss, f.model.step, {.max_steps = 2});
  trainer.Use(Profile{.folder = "/proc/penstock"});
  EXPECT_THROW(trainer.Run(f.model.Source(100)), Error);
}

}  // namespace
}  // namespace penstock
