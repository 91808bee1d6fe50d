#include "penstock/train/loss/metric.h"

#include "penstock/train/parameters.h"
#include "penstock/train/testing/loss_values.h"

// The expected values of whole sets were recorded from TensorFlow 2.21.

namespace penstock {
namespace {

using namespace loss_testing;

class MetricTest : public ::testing::Test {
 protected:
  Graph g;

  // The value after each of these batches was taken in once, twice over with a reset between.
  template <class T>
  std::vector<T> Over(const Metric<T>& metric, const std::vector<std::vector<Feed>>& batches) {
    Session session(g);
    session.Run(InitVariables(g));
    std::vector<T> before = session.Run(metric.value).ToVector();
    EXPECT_EQ(before, std::vector<T>(before.size())) << "not 0 at first";
    std::vector<T> values[2];
    for (std::vector<T>& value : values) {
      for (const std::vector<Feed>& batch : batches) Update(session, metric.update, batch);
      value = session.Run(metric.value).ToVector();
      session.Run(metric.reset);
    }
    EXPECT_EQ(values[0], values[1]);
    EXPECT_EQ(session.Run(metric.value).ToVector(), before) << "not 0 after reset";
    return values[0];
  }
  void Update(Session& session, const Operation& update, const std::vector<Feed>& batch) {
    std::vector<std::pair<std::string, Tensor>> feeds;
    for (const Feed& feed : batch) feeds.emplace_back(g.NameOf(feed.output()), feed.value());
    session.Run(feeds, {}, {update.name()});
  }
};

TEST_F(MetricTest, MeanOverBatchesOfAnySize) {
  const auto x = Placeholder<float>(g, {-1});
  const auto mean = MeanOf(x);
  ExpectNear(Over(mean, {{{x, Floats{1, 2, 3}}}, {{x, Floats{10}}}, {{x, Floats{}}}}), {4});
  const auto w = Placeholder<float>(g, {-1});
  const auto weighted = MeanOf(x, {.name = "weighted", .weights = w});
  ExpectNear(Over(weighted,
                  {{{x, Floats{1, 2}}, {w, Floats{1, 0}}}, {{x, Floats{5, 9}}, {w, Floats{3, 0}}}}),
             {4});
  ExpectNear(Over(weighted, {{{x, Floats{1, 2}}, {w, Floats{0, 0}}}}), {0});
}

TEST_F(MetricTest, KeepsCountOfManySmallTerms) {
  // In single precision the sum would stop growing.
  const auto x = Placeholder<float>(g, {-1});
  const auto mean = MeanOf(x);
  Session session(g);
  session.Run(InitVariables(g));
  Update(session, mean.update, {{x, Floats{67108864}}});
  for (int i = 0; i < 100; ++i) Update(session, mean.update, {{x, Floats{1}}});
  EXPECT_NEAR(session.Run(mean.value), (67108864.0 + 100) / 101, 0.1);
}

TEST_F(MetricTest, IsNeitherTrainedNorSaved) {
  MeanOf(Constant(g, Array<float>(Floats{1})));
  EXPECT_TRUE(TrainableVariables(g).empty());
  EXPECT_TRUE(AllVariables(g).empty());
  EXPECT_EQ(g.collections["metric_variables"].size(), 2u);
  EXPECT_NE(g.FindNode("mean/total"), kNoNode);
}

TEST_F(MetricTest, OfErrorsAndPerplexity) {
  const auto p = Placeholder<float>(g, {-1, 2}), t = Placeholder<float>(g, {-1, 2});
  ExpectNear(Over(MeanSquaredErrorOf(p, t),
                  {{{p, Array<float>({1, 2}, {1, 2})}, {t, Array<float>({1, 2}, {0, 0})}},
                   {{p, Array<float>({1, 2}, {3, 0})}, {t, Array<float>({1, 2}, {0, 0})}}}),
             {14.f / 4});
  const auto x = Placeholder<float>(g, {-1});
  ExpectNear(Over(PerplexityOf(x), {{{x, Floats{1, 2}}}, {{x, Floats{6}}}}), {std::exp(3.f)});
}

TEST_F(MetricTest, OfClasses) {
  const auto logits = Placeholder<float>(g, {-1, 3});
  const auto labels = Placeholder<int32_t>(g, {-1});
  const std::vector<std::vector<Feed>> batches = {
      {{logits, Array<float>({2, 3}, {0.2f, -1.5f, 3, 0.7f, 0.1f, -2})},
       {labels, std::vector<int32_t>{2, 1}}},
      {{logits, Array<float>({1, 3}, {5, 1, 0})}, {labels, std::vector<int32_t>{2}}}};
  ExpectNear(Over(AccuracyOf(logits, labels), batches), {1.f / 3});
  ExpectNear(Over(AccuracyOf(logits, Cast<int64_t>(labels)), batches), {1.f / 3});
  ExpectNear(Over(TopKAccuracyOf(logits, labels, 2), batches), {2.f / 3});
  ExpectNear(Over(TopKAccuracyOf(logits, labels, 3), batches), {1});
  const auto wide = Placeholder<float>(g, {-1, -1, 3});
  const auto tokens = Placeholder<int32_t>(g, {-1, -1});
  ExpectNear(Over(AccuracyOf(wide, tokens), {{{wide, Array<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0})},
                                              {tokens, Array<int32_t>({1, 2}, {0, 2})}}}),
             {0.5f});
}

TEST_F(MetricTest, OfPairsOfClasses) {
  const auto p = Placeholder<int64_t>(g, {-1}), t = Placeholder<int64_t>(g, {-1});
  using Ints = std::vector<int64_t>;
  const std::vector<std::vector<Feed>> batches = {{{p, Ints{0, 1, 1}}, {t, Ints{0, 0, 1}}},
                                                  {{p, Ints{1, 0}}, {t, Ints{1, 2}}}};
  EXPECT_EQ(Over(ConfusionMatrixOf(p, t, 4), batches),
            (Ints{1, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
  ExpectNear(Over(MeanIouOf(p, t, 4), batches), {0.3333333432674408f});
  const auto matrix = ConfusionMatrixOf(p, t, 2);
  Session session(g);
  session.Run(InitVariables(g));
  for (const int64_t wrong : {2, -1}) {
    for (const bool in_label : {false, true}) {
      const Ints bad{0, wrong}, good{0, 1};
      EXPECT_THROW(
          Update(session, matrix.update, {{p, in_label ? good : bad}, {t, in_label ? bad : good}}),
          Error);
    }
  }
  EXPECT_EQ(session.Run(matrix.value).ToVector(), Ints(4)) << "a bad batch was counted";
  EXPECT_THROW(ConfusionMatrixOf(p, t, 0), Error);
}

TEST_F(MetricTest, OfTwoClasses) {
  const auto p = Placeholder<float>(g, {-1}), z = Placeholder<float>(g, {-1}),
             w = Placeholder<float>(g, {-1});
  const std::vector<std::vector<Feed>> batches = {
      {{p, Floats{0.1f, 0.4f}}, {z, Floats{0, 0}}, {w, Floats{1, 2}}},
      {{p, Floats{0.35f, 0.8f, 0.6f, 0.5f}}, {z, Floats{1, 1, 1, 0}}, {w, Floats{0.5f, 1, 3, 1}}}};
  const BinaryMetricOptions weighted{.weights = w};
  ExpectNear(Over(PrecisionOf(p, z), batches), {1});
  ExpectNear(Over(RecallOf(p, z), batches), {0.6666666865348816f});
  ExpectNear(Over(RecallOf(p, z, weighted), batches), {0.8888888955116272f});
  ExpectNear(Over(BinaryAccuracyOf(p, z), batches), {0.8333333134651184f});
  ExpectNear(Over(BinaryAccuracyOf(p, z, weighted), batches), {0.9411764740943909f});
  ExpectNear(Over(F1Of(p, z), batches), {0.8f});
  const BinaryMetricOptions low{.threshold = 0.3f};  // 3 of 5 that are said to be positive are
  ExpectNear(Over(PrecisionOf(p, z, low), batches), {0.6f});
  ExpectNear(Over(AucOf(p, z), batches), {0.7777777910232544f});
  const AucOptions few{.weights = w, .num_thresholds = 20};
  ExpectNear(Over(AucOf(p, z, few), batches), {0.9166666269302368f});
  EXPECT_THROW(AucOf(p, z, {.num_thresholds = 1}), Error);
}

}  // namespace
}  // namespace penstock
