#include "penstock/train/optim/minimize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string_view>

#include "penstock/penstock.h"
#include "penstock/train/optim/optimizers.h"
#include "penstock/train/optim/schedules.h"
#include "penstock/train/parameters.h"

namespace penstock {

// As in core/log.h, whose Log is not the op.
enum class LogLevel;
void SetLogSink(std::function<void(LogLevel, std::string_view)> sink);

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// The message of what `f` throws.
template <class F>
std::string ErrorOf(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

// Variables a = (3, 4) and b = (1), and a loss of slope (1, 2) and 0.5.
class MinimizeTest : public testing::Test {
 protected:
  std::vector<float> Value(const Variable<float>& variable) {
    return session.Run(variable.Read()).ToVector();
  }
  void Step(const Operation& step) {
    session.Run(InitVariables(g));
    session.Run(step);
  }

  Graph g;
  Variable<float> a{g, Array<float>({2}, {3, 4}), "a"};
  Variable<float> b{g, Array<float>({1}, {1}), "b/bias"};
  Output<float> loss =
      Sum(a.Read() * Constant(g, Array<float>({2}, {1, 2}))) + Sum(b.Read()) * 0.5f;
  Session session{g};
};
using Floats = std::vector<float>;

TEST_F(MinimizeTest, TrainsAllVariablesAndCounts) {
  Step(SGD{.rate = 1}.Minimize(loss));
  EXPECT_EQ(Value(a), (Floats{2, 2}));
  EXPECT_EQ(Value(b), (Floats{0.5}));
  EXPECT_EQ(int64_t(session.Run(GlobalStep(g).Read())), 1);
}

TEST_F(MinimizeTest, LeavesCountersAlone) {
  Variable<int32_t> count(g, Constant<int32_t>(g, 1), "count");
  Step(SGD{.rate = 1}.Minimize(loss, {.unconnected = UnconnectedVariables::kError}));
  EXPECT_EQ(Value(b), (Floats{0.5}));
}

TEST_F(MinimizeTest, TrainsTheChosenOnes) {
  Step(SGD{.rate = 1}.Minimize(loss, {.variables = {b}}));
  EXPECT_EQ(Value(a), (Floats{3, 4}));
  EXPECT_EQ(Value(b), (Floats{0.5}));
}

TEST_F(MinimizeTest, FetchesTheLossThatTheStepBeganWith) {
  const auto step = SGD{.rate = 1}.Minimize(loss);
  session.Run(InitVariables(g));
  for (const float want : {11.5f, 11.5f - 5.25f, 11.5f - 10.5f}) {
    const auto [value] = session.Run(Fetch(loss), step);
    EXPECT_EQ(float(value), want);
  }
}

TEST_F(MinimizeTest, RunsUpdatesAndAddsPenalties) {
  const auto counter = Variable<float>::NotTrainable(g, Constant(g, 0.f), "counter");
  AddUpdate(counter.AssignAdd(Constant(g, 1.f)));
  AddPenalty(Sum(a.Read() * a.Read()) * 0.5f);  // of slope a
  Step(SGD{.rate = 1}.Minimize(loss));
  EXPECT_EQ(Value(a), (Floats{3 - 1 - 3, 4 - 2 - 4}));
  EXPECT_EQ(Value(counter), (Floats{1}));
}

TEST_F(MinimizeTest, GoesInTwoHalves) {
  const SGD sgd{.rate = 1};
  GradientList gradients = sgd.ComputeGradients(loss);
  ASSERT_EQ(gradients.items.size(), 2u);
  EXPECT_EQ(gradients.items[0].parameter.name, "a");
  gradients.items.pop_back();
  Step(sgd.ApplyGradients(gradients));
  EXPECT_EQ(Value(a), (Floats{2, 2}));
  EXPECT_EQ(Value(b), (Floats{1}));
}

TEST_F(MinimizeTest, ClipsByValue) {
  Step(SGD{.rate = 1}.Minimize(loss, {.clip = Clip::ByValue(0.75)}));
  EXPECT_EQ(Value(a), (Floats{2.25, 3.25}));
  EXPECT_EQ(Value(b), (Floats{0.5}));
}

TEST_F(MinimizeTest, ClipsByNorm) {
  Step(SGD{.rate = 1}.Minimize(loss, {.clip = Clip::ByNorm(1)}));
  const float root = std::sqrt(5.f);
  EXPECT_FLOAT_EQ(Value(a)[0], 3 - 1 / root);
  EXPECT_FLOAT_EQ(Value(a)[1], 4 - 2 / root);
  EXPECT_FLOAT_EQ(Value(b)[0], 0.5);  // short enough
}

TEST_F(MinimizeTest, ClipsByGlobalNorm) {
  Step(SGD{.rate = 1}.Minimize(loss, {.clip = Clip::ByGlobalNorm(1)}));
  const float norm = std::sqrt(5.25f);
  EXPECT_FLOAT_EQ(Value(a)[0], 3 - 1 / norm);
  EXPECT_FLOAT_EQ(Value(b)[0], 1 - 0.5f / norm);
  EXPECT_FLOAT_EQ(session.Run(GlobalNorm(SGD{}.ComputeGradients(loss))), norm);
}

TEST_F(MinimizeTest, LeavesShortGradientsAlone) {
  Step(SGD{.rate = 1}.Minimize(loss, {.clip = Clip::ByGlobalNorm(100)}));
  EXPECT_FLOAT_EQ(Value(a)[0], 2);
  EXPECT_FLOAT_EQ(Value(b)[0], 0.5);
}

TEST_F(MinimizeTest, ClipsRowsAsTheyAre) {
  Variable<float> table(g, Array<float>({3, 1}, {1, 1, 1}), "table");
  const auto rows =
      Gather(table.Read(), Constant(g, Array<int64_t>(std::vector<int64_t>{2, 2})), 0);
  Step(SGD{.rate = 1}.Minimize(Sum(rows) * 3.f,
                               {.variables = {table}, .clip = Clip::ByGlobalNorm(1)}));
  // Two rows of 3 have the norm 3 * sqrt(2).
  EXPECT_FLOAT_EQ(Value(table)[2], 1 - 2 / std::sqrt(2.f));
  EXPECT_EQ(Value(table)[0], 1);
}

TEST_F(MinimizeTest, ClipsRowsBeforeTheyAddUp) {
  // The second asks for the gradient as a whole.
  for (const double l2 : {0.0, 1e-9}) {
    Variable<float> table(g, Array<float>({3, 1}, {1, 1, 1}), "table");
    const auto rows =
        Gather(table.Read(), Constant(g, Array<int64_t>(std::vector<int64_t>{2, 2})), 0);
    Step(SGD{.rate = 1}.Minimize(
        Sum(rows) * 3.f, {.variables = {table}, .clip = Clip::ByValue(1), .l2 = {.rate = l2}}));
    EXPECT_FLOAT_EQ(Value(table)[2], -1);
    EXPECT_FLOAT_EQ(Value(table)[0], 1);
  }
}

TEST_F(MinimizeTest, SkipsRowsThatAreNotFinite) {
  Variable<float> table(g, Array<float>({3, 1}, {1, 1, 1}), "table");
  const auto rows =
      Gather(table.Read(), Constant(g, Array<int64_t>(std::vector<int64_t>{2, 2})), 0);
  const auto factor = Placeholder<float>(g, {});
  const auto step = Momentum{.rate = 1}.Minimize(
      Sum(rows) * factor, {.variables = {table}, .loss_scale = LossScale::Dynamic()});
  session.Run(InitVariables(g));
  session.Run({{factor, kInf}}, step);
  EXPECT_EQ(Value(table), (Floats{1, 1, 1}));
  session.Run({{factor, 1.f}}, step);
  EXPECT_EQ(Value(table), (Floats{1, 1, -1}));
}

TEST_F(MinimizeTest, MakesANormThatIsNotFiniteVisible) {
  const auto factor = Placeholder<float>(g, {});
  const auto step = SGD{.rate = 1}.Minimize(loss * factor, {.clip = Clip::ByGlobalNorm(1)});
  session.Run(InitVariables(g));
  session.Run({{factor, kInf}}, step);
  EXPECT_TRUE(std::isnan(Value(a)[0]));
}

TEST_F(MinimizeTest, SkipsStepsThatAreNotFinite) {
  const auto factor = Placeholder<float>(g, {});
  const auto step = SGD{.rate = 1}.Minimize(loss * factor, {.skip_nonfinite = true});
  session.Run(InitVariables(g));
  session.Run({{factor, kInf}}, step);
  EXPECT_EQ(Value(a), (Floats{3, 4}));
  EXPECT_EQ(int64_t(session.Run(GlobalStep(g).Read())), 0);
  session.Run({{factor, 1.f}}, step);
  EXPECT_EQ(Value(a), (Floats{2, 2}));
  EXPECT_EQ(int64_t(session.Run(GlobalStep(g).Read())), 1);
}

TEST_F(MinimizeTest, AddsL2ToTheGradients) {
  Step(SGD{.rate = 1}.Minimize(loss, {.l2 = {.rate = 0.5, .exclude = {"bias"}}}));
  EXPECT_EQ(Value(a), (Floats{3 - 1 - 1.5, 4 - 2 - 2}));
  EXPECT_EQ(Value(b), (Floats{0.5}));
}

TEST_F(MinimizeTest, DecaysWeightsApartFromTheGradients) {
  // The means of Momentum do not see the decay: w -= rate * decay * w, then rate * m.
  Step(Momentum{.rate = 0.5}.Minimize(loss, {.decay = {.rate = 0.5, .exclude = {"bias"}}}));
  EXPECT_EQ(Value(a), (Floats{3 * 0.75f - 0.5f, 4 * 0.75f - 1}));
  EXPECT_EQ(Value(b), (Floats{0.75}));
  EXPECT_EQ(session.Run(Variable<float>::Of(g, g.FindNode("a/Momentum")).Read()).ToVector(),
            (Floats{1, 2}));
}

TEST_F(MinimizeTest, DecaysOnlyInStepsThatAreFinite) {
  const auto factor = Placeholder<float>(g, {});
  const auto step = SGD{.rate = 0.5}.Minimize(
      loss * factor,
      {.clip = Clip::ByGlobalNorm(1e6), .decay = {.rate = 0.5}, .skip_nonfinite = true});
  session.Run(InitVariables(g));
  session.Run({{factor, kInf}}, step);
  EXPECT_EQ(Value(b), (Floats{1}));
  session.Run({{factor, 1.f}}, step);
  EXPECT_FLOAT_EQ(Value(b)[0], 0.75f - 0.25f);
}

TEST_F(MinimizeTest, ScalesTheLoss) {
  Step(SGD{.rate = 1}.Minimize(loss, {.loss_scale = LossScale::Static(1024)}));
  EXPECT_EQ(Value(a), (Floats{2, 2}));
}

TEST_F(MinimizeTest, ScalesTheLossDynamically) {
  const auto factor = Placeholder<float>(g, {});
  const auto step = SGD{.rate = 1}.Minimize(
      loss * factor, {.loss_scale = LossScale::Dynamic(/*initial=*/8, /*growth_steps=*/2)});
  session.Run(InitVariables(g));
  const auto run = [&](float f) { session.Run({{factor, f}}, step); };
  const auto scale = [&] {
    return float(session.Run(Variable<float>::Of(g, g.FindNode("current_loss_scale")).Read()));
  };
  run(1);
  EXPECT_EQ(Value(a), (Floats{2, 2}));
  EXPECT_EQ(scale(), 8);
  run(0);  // the second good step in a row
  EXPECT_EQ(scale(), 16);
  run(std::numeric_limits<float>::max());  // overflows by the scale: skipped
  EXPECT_EQ(scale(), 8);
  EXPECT_EQ(Value(a), (Floats{2, 2}));
  EXPECT_EQ(int64_t(session.Run(GlobalStep(g).Read())), 2);
  run(0);
  EXPECT_EQ(scale(), 8);  // the count began anew
  for (int i = 0; i < 6; ++i) run(kInf);
  EXPECT_EQ(scale(), 1);
}

TEST_F(MinimizeTest, KeepsSmallGradientsOfSixteenBits) {
  // A slope of 1e-8, which a half rounds to 0.
  for (const double scale : {1.0, 65536.0}) {
    Variable<float> w(g, Array<float>({1}, {1}), "w");
    const auto in_half = Cast<half>(w.Read()) * half(1e-4f);
    const auto tiny = Sum(Cast<float>(in_half)) * 1e-4f;
    Step(SGD{.rate = 1e7}.Minimize(tiny,
                                   {.variables = {w}, .loss_scale = LossScale::Static(scale)}));
    EXPECT_NEAR(Value(w)[0], scale > 1 ? 0.9 : 1, 1e-3);
  }
}

TEST_F(MinimizeTest, NamesVariablesThatTheLossLeavesOut) {
  Variable<float> c(g, Array<float>({1}, {1}), "lonely");
  std::string logged;
  SetLogSink([&](LogLevel, std::string_view line) { logged += line; });
  SGD{}.Minimize(loss);
  SetLogSink({});
  EXPECT_HAS(logged, "does not depend on: lonely");
  EXPECT_HAS(logged, "minimize_test.cc");
  EXPECT_HAS(ErrorOf([&] { SGD{}.Minimize(loss, {.variables = {a, c}}); }), "lonely");
  EXPECT_HAS(ErrorOf([&] { SGD{}.Minimize(loss, {.unconnected = UnconnectedVariables::kError}); }),
             "lonely");
}

TEST_F(MinimizeTest, RefusesLossesThatCannotBeMinimized) {
  const int line = __LINE__ + 1;
  const std::string error = ErrorOf([&] { Adam{}.Minimize(Constant(g, 1.f)); });
  EXPECT_HAS(error, "does not depend on: a, b/bias");
  EXPECT_HAS(error, "minimize_test.cc:" + std::to_string(line));
  EXPECT_HAS(ErrorOf([&] { Adam{}.Minimize(Constant<int32_t>(g, 1)); }),
             "expected a floating type, got int32");
  EXPECT_HAS(ErrorOf([&] { Adam{}.Minimize(a.Read()); }), "expected a scalar");
  EXPECT_HAS(ErrorOf([&] { Adam{}.Minimize(Output<float>()); }), "not an output of a graph");
}

TEST_F(MinimizeTest, RefusesListsOfVariablesThatMakeNoSense) {
  EXPECT_HAS(ErrorOf([&] { SGD{}.Minimize(loss, {.variables = std::vector<Parameter>{}}); }),
             "the list of variables to train is empty");
  EXPECT_HAS(ErrorOf([&] { SGD{}.Minimize(loss, {.variables = {a, a}}); }), "a was chosen twice");
  Variable<int32_t> count(g, Constant<int32_t>(g, 1), "count");
  EXPECT_HAS(ErrorOf([&] { SGD{}.Minimize(loss, {.variables = {count}}); }),
             "variable count: only floating types");
  EXPECT_HAS(ErrorOf([&] { SGD{}.ApplyGradients({&g, {}}); }), "the list of gradients is empty");
  Graph other;
  EXPECT_HAS(ErrorOf([&] { SGD{}.Minimize(Constant(other, 1.f)); }), "no trainable variable");
  Variable<float> foreign(other, Constant(other, 1.f), "foreign");
  EXPECT_HAS(ErrorOf([&] { SGD{}.Minimize(loss, {.variables = {foreign}}); }),
             "not one of the loss's graph");
  EXPECT_HAS(ErrorOf([&] { SGD{.rate = Constant(other, 1.f)}.Minimize(loss); }), "another graph");
}

TEST_F(MinimizeTest, RefusesNumbersThatMakeNoSense) {
  const auto error = [&](const optim_internal::RulePtr& rule) {
    return ErrorOf([&] { optim_internal::Minimize(rule, loss, {}, CallSite::Here()); });
  };
  EXPECT_HAS(error(SGD{.rate = -0.1}.MakeRule()), "rate must be a number of at least 0, got -0.1");
  EXPECT_HAS(error(SGD{.rate = kNan}.MakeRule()), "rate must be");
  EXPECT_HAS(error(Momentum{.momentum = 1}.MakeRule()), "Momentum: momentum must be in [0, 1)");
  EXPECT_HAS(error(Adagrad{.initial_accumulator = 0}.MakeRule()), "initial_accumulator");
  EXPECT_HAS(error(Adadelta{.rho = -1}.MakeRule()), "rho");
  EXPECT_HAS(error(RMSProp{.decay = 1.5}.MakeRule()), "decay");
  EXPECT_HAS(error(RMSProp{.epsilon = kNan}.MakeRule()), "epsilon");
  EXPECT_HAS(error(Adam{.beta1 = 1}.MakeRule()), "Adam: beta1 must be in [0, 1), got 1");
  EXPECT_HAS(error(Adam{.beta2 = kNan}.MakeRule()), "beta2");
  EXPECT_HAS(error(Adam{.amsgrad = true, .nesterov = true}.MakeRule()), "go together");
  EXPECT_HAS(error(AdamW{.weight_decay = -1}.MakeRule()), "weight_decay");
  EXPECT_HAS(error(Ftrl{.rate = 0}.MakeRule()), "rate must be a positive number");
  EXPECT_HAS(error(Ftrl{.rate_power = 0.5}.MakeRule()), "rate_power");
  EXPECT_HAS(error(LAMB{.epsilon = -1}.MakeRule()), "epsilon");
  EXPECT_HAS(error(LBFGS{.history = 0}.MakeRule()), "history");
  EXPECT_HAS(error(SGD{.rate = CosineDecay{.decay_steps = 0}}.MakeRule()), "decay_steps");
  EXPECT_HAS(ErrorOf([&] { SGD{}.Minimize(loss, {.clip = Clip::ByNorm(0)}); }), "clipping");
  EXPECT_HAS(ErrorOf([&] { SGD{}.Minimize(loss, {.l2 = {.rate = -1}}); }), "l2.rate");
  EXPECT_HAS(ErrorOf([&] { SGD{}.Minimize(loss, {.loss_scale = LossScale::Static(0)}); }),
             "scale of the loss");
}

TEST_F(MinimizeTest, LeavesTheGraphUsableAfterAnError) {
  EXPECT_HAS(ErrorOf([&] { Adam{.beta1 = 2}.Minimize(loss); }), "beta1");
  EXPECT_EQ(AllVariables(g).size(), 2u);  // no slots were made
  Step(SGD{.rate = 1}.Minimize(loss));
  EXPECT_EQ(Value(b), (Floats{0.5}));
}

}  // namespace
}  // namespace penstock
