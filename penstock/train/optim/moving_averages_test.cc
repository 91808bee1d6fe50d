#include "penstock/train/optim/moving_averages.h"

#include <gtest/gtest.h>

#include "penstock/penstock.h"
#include "penstock/train/optim/optimizers.h"

namespace penstock {
namespace {

class MovingAveragesTest : public testing::Test {
 protected:
  float Value(const std::string& name) {
    return session.Run(Variable<float>::Of(g, g.FindNode(name)).Read());
  }

  Graph g;
  Variable<float> w{g, Constant(g, 8.f), "layer/w"};
  Operation step = SGD{.rate = 1}.Minimize(w.Read() * 4.f);  // w = 8, 4, 0, ...
  Session session{g};
};

TEST_F(MovingAveragesTest, FollowTheVariables) {
  const MovingAverages averages(g, {.decay = 0.75});
  const Operation train = averages.After(step);
  session.Run(InitVariables(g));
  EXPECT_EQ(Value("layer/w/ExponentialMovingAverage"), 8);
  session.Run(train);
  EXPECT_EQ(Value("layer/w"), 4);
  EXPECT_EQ(Value("layer/w/ExponentialMovingAverage"), 0.75f * 8 + 0.25f * 4);
  session.Run(train);
  EXPECT_EQ(Value("layer/w/ExponentialMovingAverage"), 0.75f * 7 + 0.25f * 0);
}

TEST_F(MovingAveragesTest, ForgetFasterAtFirst) {
  const MovingAverages averages(g, {.decay = 0.75, .by_step = true});
  const Operation train = averages.After(step);
  session.Run(InitVariables(g));
  session.Run(train);  // at step 1: (1 + 1) / (10 + 1)
  EXPECT_NEAR(Value("layer/w/ExponentialMovingAverage"), 8 - (1 - 2.0 / 11) * 4, 1e-5);
}

TEST_F(MovingAveragesTest, TakeThePlaceOfTheVariablesForAWhile) {
  const MovingAverages averages(g, {.decay = 0.75});
  const Operation train = averages.After(step);
  const Operation swap = averages.Swap();
  session.Run(InitVariables(g));
  session.Run(train);
  session.Run(swap);
  EXPECT_EQ(Value("layer/w"), 7);
  EXPECT_EQ(Value("layer/w/ExponentialMovingAverage"), 4);
  session.Run(swap);
  EXPECT_EQ(Value("layer/w"), 4);
  EXPECT_EQ(Value("layer/w/ExponentialMovingAverage"), 7);
}

TEST_F(MovingAveragesTest, BeginWithARandomInitialValue) {
  const NodeId noise =
      OrThrow(g.AddNode({.op = "RandomStandardNormal",
                         .inputs = {Constant(g, Array<int32_t>(std::vector<int32_t>{3})).ref()},
                         .attrs = {{"dtype", DType::kFloat}}}));
  Variable<float> r(g, Output<float>(g, {noise, 0}), "r");
  const MovingAverages averages(g, {.variables = {r}});
  session.Run(InitVariables(g));
  const auto average = Variable<float>::Of(g, averages.AverageOf(r.handle()).handle);
  const auto [now, mean] = session.Run(Fetch(r.Read(), average.Read()));
  EXPECT_EQ(now.ToVector(), mean.ToVector());
  EXPECT_NE(now[0], now[1]);
}

TEST_F(MovingAveragesTest, TellWhereCheckpointsHaveThem) {
  const MovingAverages averages(g, {});
  std::vector<std::string> names;
  for (const auto& [name, parameter] : averages.VariablesToRestore())
    names.push_back(name + "<-" + parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"layer/w/ExponentialMovingAverage<-layer/w",
                                             "global_step<-global_step"}));
}

TEST_F(MovingAveragesTest, RefuseADecayThatNeverMoves) {
  EXPECT_THROW(MovingAverages(g, {.decay = 1}), Error);
  EXPECT_THROW(MovingAverages(g, {.decay = -0.1}), Error);
}

}  // namespace
}  // namespace penstock
