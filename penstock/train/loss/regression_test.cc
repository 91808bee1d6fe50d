#include "penstock/train/loss/regression.h"

#include "penstock/train/loss/regularizer.h"
#include "penstock/train/parameters.h"
#include "penstock/train/testing/loss_values.h"

// The expected values were recorded from TensorFlow 2.21.

namespace penstock {
namespace {

using namespace loss_testing;

class RegressionLoss : public ::testing::Test {
 protected:
  const Array<float> kPredictions{{2, 3}, {0.2f, -1.5f, 3, 0.7f, 0.1f, -2}};
  const Array<float> kTargets{{2, 3}, {0, -1, 1, 1, 0.5f, -2.5f}};

  Graph g;
  Output<float> p = Constant(g, kPredictions);
  Output<float> t = Constant(g, kTargets);
};

TEST_F(RegressionLoss, IsThatOfTensorFlow) {
  ExpectNear(ValueOf(MeanSquaredError(p, t)), {0.7983332872390747f});
  ExpectNear(ValueOf(MeanAbsoluteError(p, t)), {0.6500000357627869f});
  ExpectNear(ValueOf(MeanAbsolutePercentageError(p, t + 0.25f)), {66.96295928955078f});
  ExpectNear(ValueOf(MeanSquaredLogarithmicError(Abs(p), Abs(t))), {0.11830967664718628f});
  ExpectNear(ValueOf(HuberLoss(p, t, {.delta = 0.7f})), {0.25833332538604736f});
  ExpectNear(ValueOf(LogCoshLoss(p, t)), {0.28456562757492065f});
  const auto counts = Constant(g, Array<float>({2, 3}, {0, 1, 2, 3, 0, 1}));
  ExpectNear(ValueOf(PoissonLoss(Exp(p), counts)), {3.3640544414520264f});
  ExpectNear(ValueOf(LogPoissonLoss(p, counts)), {3.3640549182891846f});
  ExpectNear(ValueOf(CosineDistance(p, t, {.reduction = Reduction::kNone})),
             {1 - 0.9470012187957764f, 1 - 0.9897624254226685f});
}

TEST_F(RegressionLoss, HasTheGradientOfItsDifferences) {
  const auto fixed = [&](auto loss) {
    return [&, loss](Output<float> x) { return loss(x, Constant(x.graph(), kTargets)); };
  };
  const auto plain = [&](auto* loss) {
    return fixed([loss](Output<float> x, Output<float> y) { return loss(x, y, {}, {}); });
  };
  ExpectGradient(plain(MeanSquaredError), kPredictions);
  ExpectGradient(plain(MeanAbsoluteError), kPredictions);
  ExpectGradient(plain(LogCoshLoss), kPredictions);
  ExpectGradient(plain(LogPoissonLoss), kPredictions, 1e-2f);
  ExpectGradient(plain(CosineDistance), kPredictions);
  ExpectGradient(fixed([](Output<float> x, Output<float> y) {
                   return HuberLoss(x, y, {.reduction = Reduction::kSum, .delta = 0.4f});
                 }),
                 kPredictions, 2e-2f);
}

TEST_F(RegressionLoss, TakesWeightsOfRows) {
  const auto w = Constant(g, Array<float>(Floats{0.5f, 2}));
  ExpectNear(ValueOf(MeanSquaredError(p, t, {.weights = w})), {0.5241666436195374f});
  ExpectNear(ValueOf(MeanSquaredError(p, t, {.weights = Reshape(w, {2, 1})})),
             {0.5241666436195374f});
  ExpectNear(ValueOf(MeanSquaredError(p, t, {.weights = Constant(g, 2.f)})),
             {2 * 0.7983332872390747f});
}

TEST_F(RegressionLoss, IsReducedAsAsked) {
  const auto zero = Constant(g, Array<float>(Floats{0, 0, 0, 0}));
  const auto losses = Constant(g, Array<float>(Floats{1, 2, 3, 4}));
  const auto w = Constant(g, Array<float>(Floats{0, 2, 0, 1}));
  const auto reduced = [&](Reduction reduction) {
    return ValueOf(MeanAbsoluteError(losses, zero, {.weights = w, .reduction = reduction}));
  };
  ExpectNear(reduced(Reduction::kMean), {2});
  ExpectNear(reduced(Reduction::kMeanOverWeights), {2.6666667461395264f});
  ExpectNear(reduced(Reduction::kMeanOverNonzero), {4});
  ExpectNear(reduced(Reduction::kSum), {8});
  ExpectNear(reduced(Reduction::kNone), {0, 4, 0, 4});
}

TEST_F(RegressionLoss, CountsTheWeightsOfRowsForAllTheirElements) {
  const auto w = Constant(g, Array<float>(Floats{0, 2}));
  // The second row alone: (0.09 + 0.16 + 0.25) / 3.
  for (const Reduction reduction : {Reduction::kMeanOverWeights, Reduction::kMeanOverNonzero}) {
    const float factor = reduction == Reduction::kMeanOverNonzero ? 2 : 1;
    ExpectNear(ValueOf(MeanSquaredError(p, t, {.weights = w, .reduction = reduction})),
               {factor * 0.5f / 3});
  }
}

TEST_F(RegressionLoss, OfNothingIsZero) {
  const auto none = Constant(g, Array<float>({0, 3}, {}));
  const auto x = Placeholder<float>(g, {-1, 3});
  for (const Reduction reduction : {Reduction::kMean, Reduction::kMeanOverWeights,
                                    Reduction::kMeanOverNonzero, Reduction::kSum}) {
    ExpectNear(ValueOf(MeanSquaredError(none, none, {.reduction = reduction})), {0});
    const auto zeros = Constant(g, Array<float>(Floats{0, 0}));
    ExpectNear(ValueOf(MeanSquaredError(p, t, {.weights = zeros, .reduction = reduction})), {0});
    // An empty batch of a graph that takes any, and its gradient.
    const auto loss = MeanSquaredError(x, x * 2.f, {.reduction = reduction});
    const auto slope = GradientOf(loss, x);
    Session session(g);
    const auto [value, gradient] = session.Run({{x, Array<float>({0, 3}, {})}}, Fetch(loss, slope));
    EXPECT_EQ(float(value), 0);
    EXPECT_EQ(gradient.size(), 0);
  }
}

TEST_F(RegressionLoss, RefusesWhatDoesNotFit) {
  const auto column = Constant(g, Array<float>({2, 1}, {1, 2}));
  EXPECT_NE(ErrorOf([&] { MeanSquaredError(p, column); }).find("[2,3] vs [2,1]"), std::string::npos)
      << ErrorOf([&] { MeanSquaredError(p, column); });
  const auto w = Constant(g, Array<float>(Floats{1, 2, 3}));
  EXPECT_NE(ErrorOf([&] { MeanSquaredError(p, t, {.weights = w}); }).find("weights of shape [3]"),
            std::string::npos)
      << ErrorOf([&] { MeanSquaredError(p, t, {.weights = w}); });
  EXPECT_THROW(HuberLoss(p, t, {.delta = -1}), Error);
}

TEST_F(RegressionLoss, OfEmbeddings) {
  const auto a = Constant(g, Array<float>({2, 2}, {0, 0, 1, 1}));
  const auto b = Constant(g, Array<float>({2, 2}, {3, 4, 1, 1.5f}));
  const auto c = Constant(g, Array<float>({2, 2}, {1, 0, 3, 1}));
  constexpr Reduction kEach = Reduction::kNone;
  // Distances 5 and 0.5.
  const auto same = Constant(g, Array<float>(Floats{1, 0}));
  ExpectNear(ValueOf(ContrastiveLoss(a, b, same, {.reduction = kEach, .margin = 1})), {25, 0.25f});
  const auto differ = Constant(g, Array<float>(Floats{0, 1}));
  ExpectNear(ValueOf(ContrastiveLoss(a, b, differ, {.reduction = kEach, .margin = 6})), {1, 0.25f});
  // Squared distances: to b 25 and 0.25, to c 1 and 4.
  ExpectNear(ValueOf(TripletLoss(a, b, c, {.reduction = kEach, .margin = 1})), {25, 0});
  ExpectNear(ValueOf(TripletLoss(a, b, c, {.reduction = kEach, .margin = 5})), {29, 1.25f});
  // No slope of NaN for a pair that lies on one spot.
  const auto loss = ContrastiveLoss(a, a, same);
  for (const float slope : ValueOf(GradientOf(loss, a))) EXPECT_TRUE(std::isfinite(slope));
}

TEST(Regularizer, AddsUp) {
  Graph g;
  const Variable<float> w(g, Array<float>({2, 2}, {1, -2, 3, -4}));
  ExpectNear(ValueOf(Regularizer{.l1 = 0.1f}(w)), {1});
  ExpectNear(ValueOf(Regularizer{.l2 = 0.1f}(w)), {3});
  ExpectNear(ValueOf(Regularizer{.l1 = 0.1f, .l2 = 0.1f}(w)), {4});
  ExpectNear(ValueOf(Regularizer{}(w)), {0});
  EXPECT_THROW(Regularizer{.l2 = -1}(w), Error);
  Regularizer{.l2 = 0.5f}.Add(w);
  const auto penalties = PenaltiesOf(g);
  ASSERT_EQ(penalties.size(), 1u);
  ExpectNear(ValueOf(penalties[0]), {15});
}

}  // namespace
}  // namespace penstock
