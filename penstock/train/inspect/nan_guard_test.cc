#include "penstock/train/inspect/nan_guard.h"

#include <gtest/gtest.h>

#include <limits>

#include "penstock/train/loop/testing/small_model.h"
#include "penstock/train/loop/trainer.h"
#include "penstock/train/testing/log_lines.h"

namespace penstock {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// What a run with the guard fails with; "" when it does not.
std::string FailureOf(Trainer& trainer, FeedSource& source) {
  try {
    trainer.Run(source);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    return error.what();
  }
}

// loss = mean(log(x * w)) has a logarithm of 0 when x does.
struct LogModel {
  Graph g;
  Output<float> x = Placeholder<float>(g, {-1}, "x");
  Variable<float> w{g, Constant(g, 1.f), "w"};
  Output<float> weight = w.Read();
  int log_line = 0;
  Output<float> loss;
  Operation step;
  Operation init;

  LogModel() {
    log_line = __LINE__ + 1;
    const auto logarithm = Log(x * weight);
    loss = Mean(logarithm * logarithm) * 0.01f;
    step = w.AssignSub(GradientOf(loss, weight) * 0.01f);
    init = InitVariables(g);
  }

  std::unique_ptr<FeedSource> Source(std::vector<float> batches) {
    return FeedsFrom(NextFeeds([this, batches, next = size_t{0}](FeedList& feeds) mutable {
      if (next == batches.size()) return false;
      feeds = {{x, std::vector<float>{1.5f, batches[next++]}}};
      return true;
    }));
  }
};

TEST(NanGuard, NamesTheFirstBadNodeWithItsLine) {
  for (const int64_t snapshot_every : {1, 2, 20}) {
    LogModel model;
    Session session(model.g);
    session.Run(model.init);
    Trainer trainer(session, model.loss, model.step);
    trainer.Use(NanGuard{.snapshot_every = snapshot_every});
    std::vector<float> weights = {1.f};
    trainer.OnStep([&](Training&) { weights.push_back(session.Run(model.weight)); });
    const auto source = model.Source({2, 3, 4, 5, 0, 6});
    const std::string failure = FailureOf(trainer, *source);
    EXPECT_NE(failure.find("loss is inf at step 5"), std::string::npos) << failure;
    EXPECT_NE(failure.find(Format("= Log (")), std::string::npos) << failure;
    EXPECT_NE(failure.find(Format("nan_guard_test.cc:{})", model.log_line)), std::string::npos)
        << failure;
    EXPECT_NE(failure.find("1 inf and 0 nan among 2; input 0 lies in [0, "), std::string::npos)
        << failure;
    // As it was before the step, to the bit.
    EXPECT_EQ(weights.size(), 5u);
    EXPECT_EQ(static_cast<float>(session.Run(model.weight)), weights.back());
  }
}

TEST(NanGuard, SkipsBatches) {
  const LogLines log;
  LogModel guarded, plain;
  Session session(guarded.g), other(plain.g);
  session.Run(guarded.init);
  other.Run(plain.init);
  Trainer trainer(session, guarded.loss, guarded.step);
  trainer.Use(NanGuard{.action = NanGuard::Action::kSkipBatch, .max_skipped = 2});
  EXPECT_EQ(trainer.Run(guarded.Source({2, 0, 3, 0, 4})).step, 3);
  EXPECT_TRUE(log.Has("the batch is skipped")) << log.text();
  EXPECT_EQ(Trainer(other, plain.loss, plain.step).Run(plain.Source({2, 3, 4})).step, 3);
  EXPECT_EQ(static_cast<float>(session.Run(guarded.weight)),
            static_cast<float>(other.Run(plain.weight)));
  const auto source = guarded.Source({0, 0, 0});
  EXPECT_NE(FailureOf(trainer, *source), "") << "three are too many";
}

TEST(NanGuard, NamesWhatWasFed) {
  LogModel model;
  Session session(model.g);
  session.Run(model.init);
  Trainer trainer(session, model.loss, model.step);
  trainer.Use(NanGuard{});
  const auto source = model.Source({2, kInf});
  const std::string failure = FailureOf(trainer, *source);
  EXPECT_NE(failure.find("what was fed for {{node x}} = Placeholder"), std::string::npos)
      << failure;
}

// A mask of -inf is not finite in every step: it is not what went wrong.
TEST(NanGuard, AMaskIsAboveSuspicion) {
  Graph g;
  const auto x = Placeholder<float>(g, {2}, "x");
  Variable<float> w(g, Constant(g, 1.f), "w");
  const auto weight = w.Read();
  const auto mask = Constant(g, Array<float>({2}, {0, -kInf}));
  const auto masked = x * weight + mask;
  const auto loss = Sum(Exp(masked)) + Sum(Sqrt(x));
  const auto step = w.AssignSub(GradientOf(loss, weight) * 0.01f);
  Session session(g);
  session.Run(InitVariables(g));
  Trainer trainer(session, loss, step);
  trainer.Use(NanGuard{});
  int number = 0;
  const auto source = FeedsFrom(NextFeeds([&](FeedList& feeds) {
    feeds = {{x, std::vector<float>{number++ == 2 ? -1.f : 1.f, 1.f}}};
    return true;
  }));
  const std::string failure = FailureOf(trainer, *source);
  EXPECT_NE(failure.find("at step 3"), std::string::npos) << failure;
  EXPECT_NE(failure.find("= Sqrt"), std::string::npos) << failure;
}

// The loss of a step can be fine while its update is not: the next step shows it.
TEST(NanGuard, NamesTheUpdateThatOverflows) {
  Graph g;
  Variable<float> w(g, Constant(g, -3e38f), "w");
  const auto weight = w.Read();
  const auto loss = weight * 1e-38f;
  const auto step = w.AssignSub(Constant(g, 1e38f));
  Session session(g);
  session.Run(InitVariables(g));
  Trainer trainer(session, loss, step);
  trainer.Use(NanGuard{});
  const auto source = FeedsFrom(NextFeeds([](FeedList&) { return true; }));
  const std::string failure = FailureOf(trainer, *source);
  EXPECT_NE(failure.find("at step 2"), std::string::npos) << failure;
  EXPECT_NE(failure.find("= ReadVariableOp"), std::string::npos) << failure;
  EXPECT_NE(failure.find("In the step before: all values are finite, but the update of w"),
            std::string::npos)
      << failure;
  EXPECT_NE(failure.find("= AssignSubVariableOp"), std::string::npos) << failure;
}

TEST(NanGuard, SettingsAreChecked) {
  SmallModel model;
  Session session(model.g);
  Trainer trainer(session, model.loss, model.step);
  EXPECT_THROW(trainer.Use(NanGuard{.snapshot_every = 0}), Error);
}

// The guard must not change what is computed.
TEST(NanGuard, ChangesNoBit) {
  std::string states[2];
  for (const bool guarded : {false, true}) {
    SmallModel model;
    Session session(model.g);
    session.Run(model.init);
    Trainer trainer(session, model.loss, model.step, {.max_steps = 30, .epochs = 0});
    if (guarded) trainer.Use(NanGuard{.snapshot_every = 3});
    trainer.Run(model.Source(7));
    states[guarded] = model.StateBytes(session);
  }
  EXPECT_EQ(states[0], states[1]);
}

}  // namespace
}  // namespace penstock
