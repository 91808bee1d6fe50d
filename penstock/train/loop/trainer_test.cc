#include "penstock/train/loop/trainer.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "penstock/io/file_tree.h"
#include "penstock/train/loop/evaluation.h"
#include "penstock/train/loop/progress.h"
#include "penstock/train/loop/reports.h"
#include "penstock/train/loop/signals.h"
#include "penstock/train/loop/testing/small_model.h"
#include "penstock/train/testing/log_lines.h"

namespace penstock {
namespace {

struct Fixture {
  SmallModel model;
  Session session{model.g};
  Fixture() { session.Run(model.init); }

  Trainer MakeTrainer(TrainerOptions options = {}) {
    return Trainer(session, model.loss, model.step, std::move(options));
  }
};

TEST(Trainer, TrainsUntilTheInputEnds) {
  Fixture f;
  Trainer trainer = f.MakeTrainer({.epochs = 3});
  std::vector<float> losses;
  std::vector<int64_t> epochs;
  trainer.OnStep([&](Training& t) {
    EXPECT_EQ(t.step(), static_cast<int64_t>(losses.size()) + 1);
    EXPECT_EQ(t.metrics().at("loss"), t.loss());
    losses.push_back(t.loss());
  });
  trainer.OnEpoch([&](Training& t) { epochs.push_back(t.position().epoch); });
  const TrainingEnd end = trainer.Run(f.model.Source(20));
  EXPECT_EQ(end.reason, EndReason::kInputEnded);
  EXPECT_EQ(end.step, 60);
  EXPECT_EQ(epochs, (std::vector<int64_t>{1, 2, 3}));
  ASSERT_EQ(losses.size(), 60u);
  EXPECT_LT(losses.back(), losses.front() / 100);
  EXPECT_EQ(end.loss, losses.back());
  // A later run goes on with the count of the graph.
  EXPECT_EQ(f.MakeTrainer({.max_steps = 62}).Run(f.model.Source(20)).step, 62);
}

TEST(Trainer, StopsAfterTheStepsAskedFor) {
  Fixture f;
  const TrainingEnd end = f.MakeTrainer({.max_steps = 7, .epochs = 0}).Run(f.model.Source(3));
  EXPECT_EQ(end.reason, EndReason::kStepsDone);
  EXPECT_EQ(end.step, 7);
  EXPECT_EQ(f.MakeTrainer({.max_steps = 7}).Run(f.model.Source(3)).step, 7) << "nothing left to do";
}

TEST(Trainer, TakesAFunctionAsInput) {
  Fixture f;
  int64_t next = 0;
  // Asked for more epochs than a function can give.
  const TrainingEnd end = f.MakeTrainer({.epochs = 0}).Run([&](FeedList& feeds) {
    if (next == 5) return false;
    feeds = f.model.Batch(0, next++);
    return true;
  });
  EXPECT_EQ(end.reason, EndReason::kInputEnded);
  EXPECT_EQ(end.step, 5);
}

TEST(Trainer, TakesARangeAsInput) {
  Fixture f;
  const std::vector<int64_t> numbers = {4, 5, 6};
  const auto source = FeedsOver(numbers, [&](int64_t number) { return f.model.Batch(0, number); });
  EXPECT_EQ(f.MakeTrainer({.epochs = 2}).Run(source).step, 6);
}

TEST(Trainer, ReadsMetricsWithEachStep) {
  Fixture f;
  Trainer trainer = f.MakeTrainer({.max_steps = 2, .metrics = {{"error", Mean(f.model.error)}}});
  int seen = 0;
  trainer.OnStep([&](Training& t) { seen += t.metrics().contains("error"); });
  trainer.Run(f.model.Source(5));
  EXPECT_EQ(seen, 2);
}

// Hooks that write down what they are told.
class Spy final : public Hook {
 public:
  Spy(Phase phase, std::string* log, std::string name)
      : phase_(phase), log_(*log), name_(std::move(name)) {}
  Phase phase() const override { return phase_; }
  void Begin(Training&) override { log_ += "b" + name_; }
  void BeforeStep(Training&, StepRequest&) override { log_ += "<" + name_; }
  void AfterStep(Training&) override { log_ += ">" + name_; }
  void AfterEpoch(Training&) override { log_ += "e" + name_; }
  void End(Training& t) override {
    log_ += "E" + name_;
    if (t.end()->reason == EndReason::kFailed) log_ += "!";
  }

 private:
  const Phase phase_;
  std::string& log_;
  const std::string name_;
};

TEST(Trainer, CallsHooksByPhase) {
  Fixture f;
  std::string log;
  Trainer trainer = f.MakeTrainer();
  trainer.Use(std::make_unique<Spy>(Hook::Phase::kKeep, &log, "k"));
  trainer.Use(std::make_unique<Spy>(Hook::Phase::kReport, &log, "r"));
  trainer.Use(std::make_unique<Spy>(Hook::Phase::kGuard, &log, "g"));
  trainer.Run(f.model.Source(2));
  EXPECT_EQ(log, "bkbrbg<g<r<k>g>r>k<g<r<k>g>r>kegerekEgErEk");
}

TEST(Trainer, TellsHooksOfFailure) {
  Fixture f;
  std::string log;
  Trainer trainer = f.MakeTrainer();
  trainer.Use(std::make_unique<Spy>(Hook::Phase::kReport, &log, "r"));
  trainer.OnStep([](Training&) { throw Error(Internal("enough")); });
  try {
    trainer.Run(f.model.Source(2));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("enough"), std::string::npos);
  }
  EXPECT_EQ(log, "br<r>rEr!");
}

TEST(Trainer, TellsOfAStepThatFails) {
  Fixture f;
  Trainer trainer = f.MakeTrainer();
  EXPECT_THROW(trainer.Run([&](FeedList& feeds) {
    feeds = {{f.model.x, Array<float>({1, 3}, {1, 2, 3})}};
    return true;
  }),
               Error);
}

TEST(Trainer, StopsWhenAHookSaysSo) {
  Fixture f;
  Trainer trainer = f.MakeTrainer();
  trainer.OnStep([](Training& t) {
    if (t.step() == 3) t.Stop("three is enough");
  });
  const TrainingEnd end = trainer.Run(f.model.Source(100));
  EXPECT_EQ(end.reason, EndReason::kStopped);
  EXPECT_EQ(end.message, "three is enough");
  EXPECT_EQ(end.step, 3);
}

// ---- going on after an end ----

std::string TrainTo(int64_t steps, const std::string& prefix, bool* restored = nullptr) {
  Fixture f;
  BundleSink sink(f.model.g, f.session, prefix);
  Trainer trainer = f.MakeTrainer({.max_steps = steps, .epochs = 0});
  trainer.Use(Checkpoints{.sink = &sink, .every_steps = 5});
  if (restored != nullptr) trainer.OnStep([=](Training& t) { *restored = t.first_step() > 0; });
  trainer.Run(f.model.Source(7));
  return f.model.StateBytes(f.session);
}

TEST(Checkpoints, ARunInTwoPartsGivesTheSameBits) {
  const std::string folder = NewFolder("resume");
  const std::string whole = TrainTo(20, folder + "/whole");
  TrainTo(10, folder + "/parts");
  bool restored = false;
  EXPECT_EQ(TrainTo(20, folder + "/parts", &restored), whole);
  EXPECT_TRUE(restored);
}

TEST(Checkpoints, ARunThatWasKilledGivesTheSameBits) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const std::string folder = testing::TempDir() + "train_killed";
  // The child is this test again: only it does what is inside.
  EXPECT_EXIT(
      {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        Fixture f;
        BundleSink sink(f.model.g, f.session, folder + "/run");
        Trainer trainer = f.MakeTrainer({.max_steps = 20, .epochs = 0});
        trainer.Use(Checkpoints{.sink = &sink, .every_steps = 5});
        trainer.OnStep([](Training& t) {
          if (t.step() == 13) raise(SIGKILL);
        });
        trainer.Run(f.model.Source(7));
      },
      testing::KilledBySignal(SIGKILL), "");
  bool restored = false;
  EXPECT_EQ(TrainTo(20, folder + "/run", &restored), TrainTo(20, folder + "/whole"));
  EXPECT_TRUE(restored);
}

TEST(Checkpoints, AFullDiskDoesNotEndTheRun) {
  Fixture f;
  BundleSink sink(f.model.g, f.session, NewFolder("full") + "/run");
  const LogLines log;
  Trainer trainer = f.MakeTrainer({.max_steps = 10});
  trainer.Use(Checkpoints{.sink = &sink, .every_steps = 4});
  trainer.OnStep([&](Training& t) { sink.set_fails(t.step() < 6); });
  EXPECT_EQ(trainer.Run(f.model.Source(20)).step, 10);
  EXPECT_EQ(sink.num_saves(), 2) << "step 8 and the end";
  EXPECT_TRUE(log.Has("checkpoint at step 4")) << log.text();
}

TEST(Checkpoints, AFullDiskAtTheEndIsAnError) {
  for (const OnWriteError on_error : {OnWriteError::kGoOn, OnWriteError::kThrow}) {
    Fixture f;
    BundleSink sink(f.model.g, f.session, NewFolder("full_end") + "/run");
    sink.set_fails(true);
    const LogLines log;
    Trainer trainer = f.MakeTrainer({.max_steps = 10});
    trainer.Use(Checkpoints{.sink = &sink, .every_steps = 4, .on_error = on_error});
    int64_t steps = 0;
    trainer.OnStep([&](Training& t) { steps = t.step(); });
    EXPECT_THROW(trainer.Run(f.model.Source(20)), Error);
    EXPECT_EQ(steps, on_error == OnWriteError::kGoOn ? 10 : 4);
  }
}

TEST(Checkpoints, OtherInputIsToldWhenGoingOn) {
  const std::string prefix = NewFolder("other_input") + "/run";
  TrainTo(10, prefix);  // three batches into the second epoch
  Fixture f;
  BundleSink sink(f.model.g, f.session, prefix);
  Trainer trainer = f.MakeTrainer({.max_steps = 20, .epochs = 0});
  trainer.Use(Checkpoints{.sink = &sink});
  try {
    trainer.Run(f.model.Source(2));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("ends after 2 batches, 3 were read"),
              std::string::npos)
        << error.what();
  }
}

// ---- signals ----

void TrainWithSignals(int num_signals, const std::string& prefix) {
  Fixture f;
  BundleSink sink(f.model.g, f.session, prefix);
  Trainer trainer = f.MakeTrainer({.epochs = 0});
  trainer.Use(Checkpoints{.sink = &sink});
  trainer.OnStep([=](Training& t) {
    if (t.step() == 6)
      for (int i = 0; i < num_signals; ++i) raise(i == 0 ? SIGTERM : SIGINT);
  });
  const TrainingEnd end = trainer.Run(f.model.Source(7));
  if (end.reason != EndReason::kInterrupted || end.step != 6) _exit(3);
  if (sink.num_saves() != 1) _exit(4);
  std::fprintf(stderr, "%s\n", end.message.c_str());
  // The handlers of before are back: this one ends the process.
  raise(SIGTERM);
  _exit(5);
}

TEST(Signals, OneSavesAndEndsTheRun) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(TrainWithSignals(1, NewFolder("signal") + "/run"), testing::KilledBySignal(SIGTERM),
              "interrupted by SIGTERM");
  const std::string prefix = testing::TempDir() + "train_signal/run";
  bool restored = false;
  EXPECT_EQ(TrainTo(20, prefix, &restored), TrainTo(20, NewFolder("unsignalled") + "/run"));
  EXPECT_TRUE(restored);
}

TEST(Signals, TheSecondEndsTheProcess) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(TrainWithSignals(2, NewFolder("signals") + "/run"), testing::KilledBySignal(SIGINT),
              "");
}

TEST(Signals, IgnoredOnesStayIgnored) {
  signal(SIGINT, SIG_IGN);
  Fixture f;
  Trainer trainer = f.MakeTrainer({.max_steps = 3});
  trainer.OnStep([](Training&) { raise(SIGINT); });
  EXPECT_EQ(trainer.Run(f.model.Source(7)).reason, EndReason::kStepsDone);
  EXPECT_EQ(signal(SIGINT, SIG_DFL), SIG_IGN);
}

TEST(Signals, MayBeLeftToTheCaller) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        Fixture f;
        Trainer trainer = f.MakeTrainer({.catch_signals = false});
        trainer.OnStep([](Training&) { raise(SIGINT); });
        trainer.Run(f.model.Source(7));
      },
      testing::KilledBySignal(SIGINT), "");
}

// ---- progress ----

TEST(Progress, WritesALineNowAndThen) {
  Fixture f;
  std::string text;
  double now = 100;
  Trainer trainer = f.MakeTrainer({.max_steps = 40, .epochs = 0});
  trainer.Use(Progress{.terminal = Progress::Terminal::kNo,
                       .write = [&](std::string_view line) { text += line; },
                       .now = [&] { return now; }});
  trainer.OnStep([&](Training&) { now += 1; });
  trainer.Run(f.model.Source(7));
  EXPECT_EQ(text.find('\r'), std::string::npos);
  // The clock moves after the bar has looked: step 11 is the first with 10 seconds behind it.
  EXPECT_NE(text.find("step 11/40 27%  loss "), std::string::npos) << text;
  EXPECT_NE(text.find("4.4000 examples/s  ETA 0:26"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
  EXPECT_NE(text.find("training ended after step 40: 40 steps done (0:40)"), std::string::npos);
}

TEST(Progress, ChangesItsLineOnATerminal) {
  Fixture f;
  std::string text;
  double now = 0;
  Trainer trainer = f.MakeTrainer({.max_steps = 4});
  trainer.Use(Progress{.terminal = Progress::Terminal::kYes,
                       .write = [&](std::string_view line) { text += line; },
                       .now = [&] { return now += 1; }});
  trainer.Run(f.model.Source(7));
  EXPECT_NE(text.find("\rstep 2/4 [==========>         ] 50%"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
}

// Where the input does not tell its length, the first epoch does.
TEST(Progress, LearnsTheLengthOfAnEpoch) {
  Fixture f;
  std::vector<int64_t> expected;
  Trainer trainer = f.MakeTrainer({.epochs = 3});
  trainer.OnStep([&](Training& t) { expected.push_back(t.expected_steps()); });
  trainer.Run(f.model.Source(2));
  EXPECT_EQ(expected, (std::vector<int64_t>{0, 0, 6, 6, 6, 6}));
}

TEST(Progress, Durations) {
  EXPECT_EQ(FormatDuration(0), "0:00");
  EXPECT_EQ(FormatDuration(32.4), "0:32");
  EXPECT_EQ(FormatDuration(3910), "1:05:10");
  EXPECT_EQ(FormatDuration(273600), "3d 4:00:00");
  EXPECT_EQ(FormatDuration(-1), "0:00");
}

}  // namespace
}  // namespace penstock
