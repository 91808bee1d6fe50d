#include <gtest/gtest.h>
#include <signal.h>

#include "penstock/io/file_tree.h"
#include "penstock/train/loop/dataset_feeds.h"
#include "penstock/train/loop/saver_sink.h"
#include "penstock/train/loop/testing/small_model.h"
#include "penstock/train/loop/trainer.h"
#include "penstock/train/loss/losses.h"
#include "penstock/train/nn/nn.h"
#include "penstock/train/testing/log_lines.h"

// A whole program: layers with dropout, Adam, a shuffled dataset, a saver.

namespace penstock {
namespace {

DatasetOf<float, int32_t> Points() {
  std::vector<float> points;
  std::vector<int32_t> labels;
  for (int32_t i = 0; i < 50; ++i) {
    const float x = std::sin(static_cast<float>(i)), y = std::cos(static_cast<float>(i * i));
    points.insert(points.end(), {x, y});
    labels.push_back(x * y > 0);
  }
  return FromArrays(Array<float>({50, 2}, points), Array<int32_t>(labels));
}

struct Classifier {
  Graph g;
  Output<float> x = Placeholder<float>(g, {-1, 2}, "x");
  Output<int32_t> y = Placeholder<int32_t>(g, {-1}, "y");
  Output<float> loss;
  Operation step, init;

  Classifier() {
    const auto model = nn::Sequential{nn::Dense{8, Tanh}, nn::Dropout{0.2f}, nn::Dense{2}};
    loss = Mean(SparseSoftmaxCrossEntropy(model(x, nn::Mode::kTrain), y));
    step = Adam{.rate = 0.05}.Minimize(loss);
    init = InitVariables(g);
  }

  std::string StateBytes(Session& session) {
    Snapshot snapshot(g, AllVariables(g));
    snapshot.Take(session);
    std::string bytes;
    for (const Tensor& value : snapshot.values())
      bytes.append(static_cast<const char*>(value.raw()), value.bytes());
    return bytes;
  }
};

struct Outcome {
  std::string state;
  int64_t first_step = 0;
  float loss = 0;
};

// Trains to `steps`; is killed after step `killed_at`.
Outcome TrainTo(int64_t steps, const std::string& folder, int64_t killed_at = -1) {
  Classifier model;
  Session session(model.g);
  session.Run(model.init);
  Saver saver(model.g);
  SaverSink sink(session, saver, folder + "/model.ckpt");
  Trainer trainer(session, model.loss, model.step, {.max_steps = steps, .epochs = 0});
  trainer.Use(Checkpoints{.sink = &sink, .every_steps = 5});
  Outcome outcome;
  trainer.OnStep([&](Training& t) {
    outcome.first_step = t.first_step();
    if (t.step() == killed_at) {
      saver.Wait();
      raise(SIGKILL);
    }
  });
  outcome.loss = trainer.Run(FeedsOf(Points().Shuffle(3).Batch(8), model.x, model.y)).loss;
  outcome.state = model.StateBytes(session);
  return outcome;
}

TEST(Resume, AKilledRunEndsWithTheSameBits) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const std::string folder = testing::TempDir() + "train_resume_killed";
  EXPECT_EXIT(
      {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        TrainTo(20, folder, 12);
      },
      testing::KilledBySignal(SIGKILL), "");
  const Outcome resumed = TrainTo(20, folder), whole = TrainTo(20, NewFolder("resume_whole"));
  EXPECT_EQ(resumed.first_step, 10);
  EXPECT_EQ(resumed.state, whole.state);
  EXPECT_EQ(resumed.loss, whole.loss);
}

TEST(Resume, ADamagedCheckpointIsPassedOver) {
  const LogLines log;
  const std::string folder = NewFolder("resume_damaged");
  TrainTo(10, folder);
  // The latest loses its data; the one before, of step 5, is used.
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().string().find("-10.data") != std::string::npos)
      std::filesystem::resize_file(entry.path(), 10);
  const Outcome resumed = TrainTo(20, folder), whole = TrainTo(20, NewFolder("resume_undamaged"));
  EXPECT_EQ(resumed.first_step, 5);
  EXPECT_EQ(resumed.state, whole.state);
  EXPECT_TRUE(log.Has("cannot be used")) << log.text();
}

TEST(Resume, OtherDataIsTold) {
  const std::string folder = NewFolder("resume_other");
  TrainTo(5, folder);
  Classifier model;
  Session session(model.g);
  Saver saver(model.g);
  SaverSink sink(session, saver, folder + "/model.ckpt");
  Trainer trainer(session, model.loss, model.step);
  trainer.Use(Checkpoints{.sink = &sink});
  EXPECT_THROW(trainer.Run(FeedsOf(Points().Batch(25), model.x, model.y)), Error);
}

TEST(DatasetFeeds, KnowsTheLengthOfAnEpoch) {
  Classifier model;
  const auto source = FeedsOf(Points().Batch(8), model.x, model.y);
  EXPECT_EQ(source->BatchesPerEpoch(), 7);
  FeedList feeds;
  int64_t num_examples = 0;
  for (source->StartEpoch(0); source->Next(feeds);) num_examples += NumExamples(feeds);
  EXPECT_EQ(num_examples, 50);
  // Each epoch is shuffled in its own way, the same each time.
  const auto shuffled = FeedsOf(Points().Shuffle(1).Batch(50), model.x, model.y);
  const auto labels_of = [&](int64_t epoch) {
    shuffled->StartEpoch(epoch);
    EXPECT_TRUE(shuffled->Next(feeds));
    return Array<int32_t>(feeds[1].value()).ToVector();
  };
  EXPECT_EQ(labels_of(2), labels_of(2));
  EXPECT_NE(labels_of(2), labels_of(1));
}

TEST(SaverSink, KeepsWhatOtherProgramsSaved) {
  const std::string folder = NewFolder("foreign");
  {
    Classifier model;
    Session session(model.g);
    session.Run(model.init);
    session.Run(GlobalStep(model.g).Assign(Constant<int64_t>(model.g, 42)));
    Saver(model.g).Save(session, folder + "/model.ckpt", {.step = 42});
  }
  EXPECT_EQ(TrainTo(45, folder).first_step, 42) << "by the global step";
}

}  // namespace
}  // namespace penstock
