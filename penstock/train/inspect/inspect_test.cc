#include <gtest/gtest.h>

#include "penstock/train/inspect/compare_graphs.h"
#include "penstock/train/inspect/gradient_check.h"
#include "penstock/train/inspect/sanity_checks.h"
#include "penstock/train/loop/testing/small_model.h"

namespace penstock {
namespace {

TEST(CheckOverfit, PassesWhenTheLossFalls) {
  StartedModel f;
  const std::string before = f.model.StateBytes(f.session);
  const OverfitReport report =
      CheckOverfit(f.session, f.model.loss, f.model.step, f.model.Batch(0, 0));
  EXPECT_TRUE(report.passed) << report.ToString();
  EXPECT_NE(report.ToString().find("the loss of one batch fell from "), std::string::npos);
  EXPECT_EQ(f.model.StateBytes(f.session), before) << "the state is as it was";
}

TEST(CheckOverfit, FailsWhenItDoesNot) {
  StartedModel f;
  // The wrong sign: up the hill.
  const OverfitReport report = CheckOverfit(f.session, f.model.loss, f.model.step,
                                            f.model.Batch(0, 0, -0.05f), {.max_steps = 10});
  EXPECT_FALSE(report.passed);
  EXPECT_EQ(report.losses.size(), 10u);
  EXPECT_NE(report.ToString().find("did not fall"), std::string::npos) << report.ToString();
}

TEST(CheckRateZero, PassesWhenNothingMoves) {
  StartedModel f;
  const RateZeroReport report =
      CheckRateZero(f.session, f.model.loss, f.model.step, f.model.rate, f.model.Batch(0, 0));
  EXPECT_TRUE(report.passed) << report.ToString();
  EXPECT_EQ(report.losses.size(), 5u);
}

TEST(CheckRateZero, NamesWhatMoves) {
  StartedModel f;
  // Decay that does not go by the rate.
  const auto decay = f.model.w.AssignSub(f.model.weights * 0.01f);
  const auto step = Group({f.model.step, decay});
  const RateZeroReport report =
      CheckRateZero(f.session, f.model.loss, step, f.model.rate, f.model.Batch(0, 0));
  EXPECT_FALSE(report.passed);
  EXPECT_EQ(report.moved, (std::vector<std::string>{"w"}));
  EXPECT_NE(report.ToString().find("these variables change: w"), std::string::npos);
}

// Two ways to write one layer, and a third that has a mistake.
struct Layer {
  Graph g;
  Output<float> x = Placeholder<float>(g, {-1, 2}, "x");
  Output<float> w = Constant(g, Array<float>({2, 2}, {1, 2, 3, 4}));
  Output<float> hidden;
  Output<float> out;

  explicit Layer(float bias) {
    BuildScope scope(g, Named("layer"));
    hidden = Relu(MatMul(x, w) + bias);
    out = Tanh(hidden * 0.1f);
  }
};

TEST(CompareGraphs, EqualGraphsAgree) {
  Layer a(1), b(1);
  Session sa(a.g), sb(b.g);
  const GraphComparison comparison = CompareGraphs(
      {sa, a.g}, {sb, b.g}, {{"x", Tensor::FromValues<float>({1, 2}, {1, -1})}}, a.out.name());
  EXPECT_TRUE(comparison.same()) << comparison.ToString();
  EXPECT_GE(comparison.num_equal, 5);
  EXPECT_TRUE(comparison.not_compared.empty());
}

TEST(CompareGraphs, NamesTheFirstDifference) {
  Layer a(1), b(1.5);
  Session sa(a.g), sb(b.g);
  const GraphComparison comparison = CompareGraphs(
      {sa, a.g}, {sb, b.g}, {{"x", Tensor::FromValues<float>({1, 2}, {1, -1})}}, a.out.name());
  ASSERT_TRUE(comparison.first_difference);
  // The constant of the bias comes before what is made of it.
  EXPECT_NE(comparison.first_difference->why.find("1 vs 1.5"), std::string::npos)
      << comparison.ToString();
  EXPECT_FALSE(comparison.same());
}

TEST(CompareGraphs, NamesMayDiffer) {
  Layer a(1);
  Graph g;
  const auto input = Placeholder<float>(g, {-1, 2}, "input");
  const auto hidden = Relu(MatMul(input, Constant(g, Array<float>({2, 2}, {1, 2, 3, 4}))) + 1.f);
  const auto out = Tanh(hidden * 0.1f);
  Session sa(a.g), sb(g);
  const auto node_name = [](Graph& graph, const Output<float>& o) {
    return graph.node(o.ref().node).name;
  };
  const CompareOptions options{.names = {{"x", "input"},
                                         {node_name(a.g, a.hidden), node_name(g, hidden)},
                                         {node_name(a.g, a.out), node_name(g, out)}}};
  const GraphComparison comparison =
      CompareGraphs({sa, a.g}, {sb, g}, {{"x", Tensor::FromValues<float>({1, 2}, {1, -1})}},
                    a.out.name(), options);
  EXPECT_TRUE(comparison.same()) << comparison.ToString();
  EXPECT_FALSE(comparison.not_compared.empty());
  EXPECT_THROW(CompareGraphs({sa, a.g}, {sb, g}, {}, "nobody", options), Error);
}

TEST(CheckGradients, AgreeWithDifferences) {
  StartedModel f;
  const std::string before = f.model.StateBytes(f.session);
  const GradientCheckReport report = CheckGradients(f.session, f.model.loss, f.model.Batch(0, 0));
  EXPECT_EQ(report.rows.size(), 3u);
  EXPECT_TRUE(report.passed()) << report.ToString();
  EXPECT_EQ(f.model.StateBytes(f.session), before);
}

TEST(CheckGradients, TellWhatIsWrong) {
  Graph g;
  Variable<float> w(g, Constant(g, Array<float>({2}, {1, 2})), "w");
  Variable<float> unused(g, Constant(g, 1.f), "unused");
  // Half of the gradient is stopped on its way.
  const Scope scope = BuildScope::Current(g, CallSite::Here());
  const auto value = w.Read();
  const Output<float> stopped(g, scope.Add("StopGradient", {Expr(&scope, value.ref())}).ref());
  const auto loss = Sum(value * stopped);
  Session session(g);
  session.Run(InitVariables(g));
  const GradientCheckReport report = CheckGradients(session, loss, {});
  EXPECT_FALSE(report.passed());
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_NEAR(report.rows[1].gradient, 2, 1e-6);
  EXPECT_NEAR(report.rows[1].difference, 4, 1e-2);
  EXPECT_EQ(report.unconnected, (std::vector<std::string>{"unused"}));
  EXPECT_NE(report.ToString().find("w[1]: the graph's gradient is 2"), std::string::npos)
      << report.ToString();
}

}  // namespace
}  // namespace penstock
