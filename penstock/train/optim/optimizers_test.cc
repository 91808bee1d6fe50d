#include "penstock/train/optim/optimizers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "penstock/penstock.h"
#include "penstock/train/parameters.h"

namespace penstock {
namespace {

// Formulas of the papers and of TensorFlow, in double and one element at a time: w and the state s
// move by gradient g at step t = 1, 2, ...
using State = std::vector<double>;
using Formula = std::function<void(int t, double g, double& w, State& s)>;

struct OptimizerCase {
  const char* name;
  optim_internal::RulePtr rule;
  State state;  // of each element, at first
  Formula formula;
  bool all_rows = false;  // a gradient of rows moves the others too
};

double Squared(double x) { return x * x; }

void AdamMeans(double g, State& s, double beta1 = 0.9, double beta2 = 0.999) {
  s[0] = beta1 * s[0] + (1 - beta1) * g;
  s[1] = beta2 * s[1] + (1 - beta2) * g * g;
}
double AdamStep(int t, double m, double v, double epsilon = 1e-8) {
  return std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t)) * m / (std::sqrt(v) + epsilon);
}
void FtrlFormula(double rate, double power, double l1, double l2, double shrinkage, double g,
                 double& w, State& s) {
  const double squares = s[0] + g * g;
  const double sigma = (std::pow(squares, -power) - std::pow(s[0], -power)) / rate;
  s[1] += g + 2 * shrinkage * w - sigma * w;
  const double quadratic = std::pow(squares, -power) / rate + 2 * l2;
  w = std::abs(s[1]) > l1 ? ((s[1] > 0 ? l1 : -l1) - s[1]) / quadratic : 0;
  s[0] = squares;
}

std::vector<OptimizerCase> Cases() {
  return {
      {"SGD",
       SGD{.rate = 0.1}.MakeRule(),
       {},
       [](int, double g, double& w, State&) { w -= 0.1 * g; }},
      {"Momentum",
       Momentum{.rate = 0.1, .momentum = 0.8}.MakeRule(),
       {0},
       [](int, double g, double& w, State& s) {
         s[0] = 0.8 * s[0] + g;
         w -= 0.1 * s[0];
       }},
      {"Nesterov",
       Momentum{.rate = 0.1, .momentum = 0.8, .nesterov = true}.MakeRule(),
       {0},
       [](int, double g, double& w, State& s) {
         s[0] = 0.8 * s[0] + g;
         w -= 0.1 * (g + 0.8 * s[0]);
       }},
      {"Adagrad",
       Adagrad{.rate = 0.1, .initial_accumulator = 0.2}.MakeRule(),
       {0.2},
       [](int, double g, double& w, State& s) {
         s[0] += g * g;
         w -= 0.1 * g / std::sqrt(s[0]);
       }},
      {"Adadelta",
       Adadelta{.rate = 0.5, .rho = 0.9, .epsilon = 1e-2}.MakeRule(),
       {0, 0},
       [](int, double g, double& w, State& s) {
         s[0] = 0.9 * s[0] + 0.1 * g * g;
         const double u = std::sqrt(s[1] + 1e-2) / std::sqrt(s[0] + 1e-2) * g;
         s[1] = 0.9 * s[1] + 0.1 * u * u;
         w -= 0.5 * u;
       }},
      {"RMSProp",
       RMSProp{.rate = 0.1, .decay = 0.8, .momentum = 0.5, .epsilon = 1e-3}.MakeRule(),
       {1, 0},
       [](int, double g, double& w, State& s) {
         s[0] = 0.8 * s[0] + 0.2 * g * g;
         s[1] = 0.5 * s[1] + 0.1 * g / std::sqrt(s[0] + 1e-3);
         w -= s[1];
       }},
      {"CenteredRMSProp",
       RMSProp{.rate = 0.1, .decay = 0.8, .momentum = 0.5, .epsilon = 1e-3, .centered = true}
           .MakeRule(),
       {1, 0, 0},
       [](int, double g, double& w, State& s) {
         s[0] = 0.8 * s[0] + 0.2 * g * g;
         s[1] = 0.8 * s[1] + 0.2 * g;
         s[2] = 0.5 * s[2] + 0.1 * g / std::sqrt(s[0] - Squared(s[1]) + 1e-3);
         w -= s[2];
       }},
      {"Adam",
       Adam{.rate = 0.1}.MakeRule(),
       {0, 0},
       [](int t, double g, double& w, State& s) {
         AdamMeans(g, s);
         w -= 0.1 * AdamStep(t, s[0], s[1]);
       },
       true},
      {"NAdam",
       Adam{.rate = 0.1, .nesterov = true}.MakeRule(),
       {0, 0},
       [](int t, double g, double& w, State& s) {
         AdamMeans(g, s);
         w -= 0.1 * AdamStep(t, 0.9 * s[0] + 0.1 * g, s[1]);
       },
       true},
      {"AMSGrad",
       Adam{.rate = 0.1, .amsgrad = true}.MakeRule(),
       {0, 0, 0},
       [](int t, double g, double& w, State& s) {
         AdamMeans(g, s);
         s[2] = std::max(s[2], s[1]);
         w -= 0.1 * AdamStep(t, s[0], s[2]);
       },
       true},
      {"AdamW",
       AdamW{.rate = 0.1, .weight_decay = 0.2}.MakeRule(),
       {0, 0},
       [](int t, double g, double& w, State& s) {
         w -= 0.1 * 0.2 * w;
         AdamMeans(g, s);
         w -= 0.1 * AdamStep(t, s[0], s[1]);
       },
       true},
      {"Ftrl",
       Ftrl{.rate = 0.5, .l1 = 0.02, .l2 = 0.03}.MakeRule(),
       {0.1, 0},
       [](int, double g, double& w, State& s) { FtrlFormula(0.5, -0.5, 0.02, 0.03, 0, g, w, s); }},
      {"FtrlShrunk",
       Ftrl{.rate = 0.5, .rate_power = -0.7, .l1 = 0.02, .l2_shrinkage = 0.01}.MakeRule(),
       {0.1, 0},
       [](int, double g, double& w, State& s) { FtrlFormula(0.5, -0.7, 0.02, 0, 0.01, g, w, s); }},
  };
}

constexpr int kSteps = 6;

// Rates and the like are floats, as in TensorFlow.
void ExpectClose(const std::vector<double>& got, const std::vector<double>& want,
                 const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 2e-6 * (1 + std::abs(want[i]))) << what << ", element " << i;
}

// loss = sum(c / 2 * w * w): the gradient is c * w.
TEST(Optimizers, FollowTheirFormulas) {
  const std::vector<double> start = {1, -2, 0.5, 3}, c = {0.3, 0.5, -1, 2};
  for (const OptimizerCase& test : Cases()) {
    Graph g;
    Variable<double> w(g, Array<double>({2, 2}, start), "w");
    const auto value = w.Read();
    const auto loss = Sum(Constant(g, Array<double>({2, 2}, c)) * value * value) * 0.5;
    const auto step = optim_internal::Minimize(test.rule, loss, {}, CallSite::Here());
    Session session(g);
    session.Run(InitVariables(g));
    std::vector<double> want = start;
    std::vector<State> states(start.size(), test.state);
    for (int t = 1; t <= kSteps; ++t) {
      session.Run(step);
      for (size_t i = 0; i < want.size(); ++i) test.formula(t, c[i] * want[i], want[i], states[i]);
      ExpectClose(session.Run(w.Read()).ToVector(), want,
                  std::string(test.name) + ", step " + std::to_string(t));
    }
  }
}

// Rows 3, 0, 3 of a table are looked up: row 3 gets the sum of two gradients, rows 1 and 2 none.
TEST(Optimizers, MoveTheRowsThatTookPart) {
  const std::vector<double> start = {1, -2, 0.5, 3, 0.25, -1, 2, 0.125};
  const std::vector<double> weights = {0.5, -1, 2, 0.25, 1.5, -0.5};  // of the three rows
  const std::vector<double> gradient = {2, 0.25, 0, 0, 0, 0, 0.5 + 1.5, -1 - 0.5};
  for (const OptimizerCase& test : Cases()) {
    Graph g;
    Variable<double> table(g, Array<double>({4, 2}, start), "table");
    const auto rows =
        Gather(table.Read(), Constant(g, Array<int64_t>(std::vector<int64_t>{3, 0, 3})), 0);
    const auto loss = Sum(rows * Constant(g, Array<double>({3, 2}, weights)));
    const auto step = optim_internal::Minimize(test.rule, loss, {}, CallSite::Here());
    Session session(g);
    session.Run(InitVariables(g));
    std::vector<double> want = start;
    std::vector<State> states(start.size(), test.state);
    for (int t = 1; t <= kSteps; ++t) {
      session.Run(step);
      for (size_t i = 0; i < want.size(); ++i) {
        if (test.all_rows || i < 2 || i >= 6) test.formula(t, gradient[i], want[i], states[i]);
      }
      ExpectClose(session.Run(table.Read()).ToVector(), want,
                  std::string(test.name) + ", step " + std::to_string(t));
    }
  }
}

// Large enough to be cut among threads, and in the type that is used most.
TEST(Optimizers, MoveLargeVariables) {
  constexpr int64_t kSize = 100'000;
  for (const OptimizerCase& test : Cases()) {
    Graph g;
    Variable<float> w(g, Constant<float>(g, Shape{kSize}, 2), "w");
    const auto value = w.Read();
    const auto step =
        optim_internal::Minimize(test.rule, Sum(value * value) * 0.125f, {}, CallSite::Here());
    Session session(g);
    session.Run(InitVariables(g));
    double want = 2;
    State state = test.state;
    for (int t = 1; t <= kSteps; ++t) {
      session.Run(step);
      test.formula(t, want / 4, want, state);
    }
    const auto got = session.Run(w.Read());
    for (const int64_t i : {int64_t{0}, kSize / 2, kSize - 1})
      EXPECT_NEAR(got[i], want, 2e-5 * (1 + std::abs(want))) << test.name;
  }
}

// u = unbiased m / (sqrt(unbiased v) + epsilon) + decay * w; w -= rate * |w| / |u| * u.
TEST(Optimizers, LambTakesStepsAsLongAsTheWeights) {
  const std::vector<double> start = {1, -2, 0.5, 3, -0.25}, c = {0.3, 0.5, -1, 2, 1};
  for (const bool adapts : {true, false}) {
    Graph g;
    Variable<double> w(g, Array<double>(start), "w");
    const auto value = w.Read();
    LAMB lamb{.rate = 0.05, .weight_decay = 0.1};
    if (!adapts) lamb.exclude_from_adaptation = {"w"};
    const auto step = lamb.Minimize(Sum(Constant(g, Array<double>(c)) * value * value) * 0.5);
    Session session(g);
    session.Run(InitVariables(g));
    std::vector<double> want = start;
    std::vector<State> states(start.size(), {0, 0});
    for (int t = 1; t <= kSteps; ++t) {
      session.Run(step);
      std::vector<double> u(start.size());
      double of_w = 0, of_u = 0;
      for (size_t i = 0; i < u.size(); ++i) {
        AdamMeans(c[i] * want[i], states[i]);
        const double m = states[i][0] / (1 - std::pow(0.9, t));
        const double v = states[i][1] / (1 - std::pow(0.999, t));
        u[i] = m / (std::sqrt(v) + 1e-6) + 0.1 * want[i];
        of_w += Squared(want[i]);
        of_u += Squared(u[i]);
      }
      const double ratio = adapts ? std::sqrt(of_w / of_u) : 1;
      for (size_t i = 0; i < u.size(); ++i) want[i] -= 0.05 * ratio * u[i];
      ExpectClose(session.Run(w.Read()).ToVector(), want, "step " + std::to_string(t));
    }
  }
}

// More than a block, on several threads: the same bits.
TEST(Optimizers, LambHasTheSameBitsOnAnyNumberOfThreads) {
  std::vector<float> values[2];
  for (const int threads : {1, 4}) {
    Graph g;
    std::vector<float> start(50'001);
    for (size_t i = 0; i < start.size(); ++i) start[i] = std::sin(static_cast<float>(i));
    Variable<float> w(g, Array<float>(start), "w");
    const auto value = w.Read();
    const auto step = LAMB{.rate = 0.1}.Minimize(Sum(value * value * value));
    SessionOptions options;
    options.threads = threads;
    Session session(g, options);
    session.Run(InitVariables(g));
    for (int t = 0; t < 3; ++t) session.Run(step);
    values[threads > 1] = session.Run(w.Read()).ToVector();
  }
  EXPECT_EQ(values[0], values[1]);
}

// Of a loss sum(w) on variables "a/w" and "b".
std::vector<std::string> VariablesAfter(const optim_internal::RulePtr& rule) {
  Graph g;
  Variable<float> a(g, Array<float>({2}, {1, 2}), "a/w");
  Variable<float> b(g, Array<float>({2}, {1, 2}), "b");
  {
    BuildScope scope(g, Named("training"));  // is not part of the names
    optim_internal::Minimize(rule, Sum(a * b), {}, CallSite::Here());
  }
  std::vector<std::string> names;
  for (const Parameter& parameter : AllVariables(g)) names.push_back(parameter.name);
  EXPECT_EQ(TrainableVariables(g).size(), 2u);
  return names;
}

TEST(Optimizers, NameSlotsAsTensorFlowDoes) {
  using Names = std::vector<std::string>;
  const auto with = [](Names slots) {
    Names names = {"a/w", "b", "global_step"};
    names.insert(names.end(), slots.begin(), slots.end());
    return names;
  };
  EXPECT_EQ(VariablesAfter(SGD{}.MakeRule()), with({}));
  EXPECT_EQ(VariablesAfter(Momentum{}.MakeRule()), with({"a/w/Momentum", "b/Momentum"}));
  EXPECT_EQ(VariablesAfter(Adagrad{}.MakeRule()), with({"a/w/Adagrad", "b/Adagrad"}));
  EXPECT_EQ(VariablesAfter(Adadelta{}.MakeRule()),
            with({"a/w/Adadelta", "a/w/Adadelta_1", "b/Adadelta", "b/Adadelta_1"}));
  EXPECT_EQ(VariablesAfter(RMSProp{}.MakeRule()),
            with({"a/w/RMSProp", "a/w/RMSProp_1", "b/RMSProp", "b/RMSProp_1"}));
  EXPECT_EQ(VariablesAfter(RMSProp{.centered = true}.MakeRule()),
            with({"a/w/RMSProp", "a/w/RMSProp_1", "a/w/RMSProp_2", "b/RMSProp", "b/RMSProp_1",
                  "b/RMSProp_2"}));
  EXPECT_EQ(VariablesAfter(Adam{}.MakeRule()),
            with({"beta1_power", "beta2_power", "a/w/Adam", "a/w/Adam_1", "b/Adam", "b/Adam_1"}));
  EXPECT_EQ(VariablesAfter(AdamW{}.MakeRule()), with({"beta1_power", "beta2_power", "a/w/AdamW",
                                                      "a/w/AdamW_1", "b/AdamW", "b/AdamW_1"}));
  EXPECT_EQ(VariablesAfter(Ftrl{}.MakeRule()),
            with({"a/w/Ftrl", "a/w/Ftrl_1", "b/Ftrl", "b/Ftrl_1"}));
  EXPECT_EQ(VariablesAfter(LAMB{}.MakeRule()),
            with({"beta1_power", "beta2_power", "a/w/LAMB", "a/w/LAMB_1", "b/LAMB", "b/LAMB_1"}));
}

// The centered mean of squares is the first slot, as in TensorFlow, though the op reads it second.
TEST(Optimizers, PutStateIntoTheSlotOfThatName) {
  Graph g;
  Variable<float> w(g, Array<float>({1}, {2}), "w");
  const auto step = RMSProp{.rate = 0.1, .decay = 0.75, .momentum = 0.5, .centered = true}.Minimize(
      Sum(w.Read()) * 2.f);
  Session session(g);
  session.Run(InitVariables(g));
  session.Run(step);
  const auto value_of = [&](const std::string& name) {
    return float(session.Run(Variable<float>::Of(g, g.FindNode(name)).Read()));
  };
  EXPECT_FLOAT_EQ(value_of("w/RMSProp"), 0.75 + 0.25 * 4);
  EXPECT_FLOAT_EQ(value_of("w/RMSProp_1"), 0.25 * 2);
  EXPECT_FLOAT_EQ(value_of("w/RMSProp_2"), 0.1 * 2 / std::sqrt(1.75 - 0.25));
}

TEST(Optimizers, KeepApartFromEachOther) {
  Graph g;
  Variable<float> a(g, Array<float>({1}, {1}), "a");
  Adam{}.Minimize(Sum(a.Read()));
  Adam{}.Minimize(Sum(a.Read()));
  EXPECT_NE(g.FindNode("a/Adam_3"), kNoNode);
  EXPECT_NE(g.FindNode("beta2_power_1"), kNoNode);
}

TEST(Optimizers, TrainSixteenBits) {
  Graph g;
  Variable<half> w(g, Array<half>(half(1.f)), "w");
  const auto value = w.Read();
  const auto step = Adam{.rate = 0.1}.Minimize(Mul(value, value));
  Session session(g);
  session.Run(InitVariables(g));
  session.Run(step);
  EXPECT_NEAR(static_cast<float>(half(session.Run(w.Read()))), 0.9f, 2e-3);
}

}  // namespace
}  // namespace penstock
