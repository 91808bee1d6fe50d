#include "penstock/train/loss/classification.h"

#include "penstock/train/testing/loss_values.h"

// The expected values were recorded from TensorFlow 2.21.

namespace penstock {
namespace {

using namespace loss_testing;

class ClassificationLoss : public ::testing::Test {
 protected:
  const Array<float> kLogits{{2, 3}, {0.2f, -1.5f, 3, 0.7f, 0.1f, -2}};
  const Array<float> kOneHot{{2, 3}, {0, 0, 1, 1, 0, 0}};
  const Array<float> kSoft{{2, 3}, {0.1f, 0.2f, 0.7f, 0.5f, 0.25f, 0.25f}};
  const Array<float> kBinary{{2, 3}, {1, 0, 1, 0, 1, 0}};
  static constexpr Reduction kEach = Reduction::kNone;

  Graph g;
  Output<float> x = Constant(g, kLogits);

  Output<int32_t> Labels(const std::vector<int32_t>& labels) {
    return Constant(g, Array<int32_t>(labels));
  }
};

TEST_F(ClassificationLoss, OfProbabilities) {
  const auto one_hot = Constant(g, kOneHot), soft = Constant(g, kSoft);
  ExpectNear(ValueOf(SoftmaxCrossEntropy(x, one_hot, {.reduction = kEach})),
             {0.06945057958364487f, 0.47996461391448975f});
  ExpectNear(
      ValueOf(SoftmaxCrossEntropy(x, one_hot, {.reduction = kEach, .label_smoothing = 0.1f})),
      {0.3127838969230652f, 0.5899646282196045f});
  ExpectNear(ValueOf(SoftmaxCrossEntropy(x, soft, {.reduction = kEach})),
             {1.2494505643844604f, 1.304964542388916f});
}

TEST_F(ClassificationLoss, OfNumbers) {
  ExpectNear(ValueOf(SparseSoftmaxCrossEntropy(x, Labels({2, 0}), {.reduction = kEach})),
             {0.06945057958364487f, 0.47996461391448975f});
  ExpectNear(ValueOf(SparseSoftmaxCrossEntropy(x, Cast<int64_t>(Labels({2, 0})),
                                               {.reduction = kEach, .label_smoothing = 0.1f})),
             {0.3127838969230652f, 0.5899646282196045f});
  const auto w = Constant(g, Array<float>(Floats{0.5f, 2}));
  ExpectNear(ValueOf(SparseSoftmaxCrossEntropy(x, Labels({2, 0}), {.weights = w})),
             {0.4973272681236267f});
  // A mean is what a mean of it is.
  ExpectNear(ValueOf(Mean(SparseSoftmaxCrossEntropy(x, Labels({2, 0})))), {0.27470759674906731f});
}

TEST_F(ClassificationLoss, TakesRowsOfAnyShape) {
  const auto logits = Reshape(x, {1, 2, 1, 3});
  const auto losses =
      SparseSoftmaxCrossEntropy(logits, Reshape(Labels({2, 0}), {1, 2, 1}), {.reduction = kEach});
  EXPECT_EQ(losses.shape(), Shape({1, 2, 1}));
  ExpectNear(ValueOf(losses), {0.06945057958364487f, 0.47996461391448975f});
  const auto soft = Reshape(Constant(g, kSoft), {1, 2, 1, 3});
  const auto of_soft = SoftmaxCrossEntropy(logits, soft, {.reduction = kEach});
  EXPECT_EQ(of_soft.shape(), Shape({1, 2, 1}));
  ExpectNear(ValueOf(of_soft), {1.2494505643844604f, 1.304964542388916f});
  // One row alone.
  const auto row = SparseSoftmaxCrossEntropy(Reshape(Slice(x, {0, 0}, {1, 3}), {3}),
                                             Constant<int32_t>(g, 2), {.reduction = kEach});
  EXPECT_EQ(row.shape(), Shape({}));
  ExpectNear(ValueOf(row), {0.06945057958364487f});
  // Sizes that only the step knows.
  const auto any = Placeholder<float>(g, {-1, -1, 3});
  const auto truth = Placeholder<int32_t>(g, {-1, -1});
  const auto loss = SparseSoftmaxCrossEntropy(any, truth);
  Session session(g);
  const auto [value] = session.Run(
      {{any, Array<float>({1, 2, 3}, kLogits.ToVector())}, {truth, Array<int32_t>({1, 2}, {2, 0})}},
      Fetch(loss));
  EXPECT_NEAR(float(value), 0.27470759674906731f, 1e-6);
}

TEST_F(ClassificationLoss, LeavesOutPadding) {
  const SparseCrossEntropyOptions options{.reduction = Reduction::kMeanOverNonzero,
                                          .ignored_label = -1};
  ExpectNear(ValueOf(SparseSoftmaxCrossEntropy(x, Labels({-1, 0}), options)),
             {0.47996461391448975f});
  ExpectNear(ValueOf(SparseSoftmaxCrossEntropy(x, Labels({-1, -1}), options)), {0});
  const auto slope = GradientOf(SparseSoftmaxCrossEntropy(x, Labels({-1, 0}), options), x);
  const Floats got = ValueOf(slope);
  EXPECT_EQ(Floats(got.begin(), got.begin() + 3), Floats(3));
  EXPECT_NE(got[3], 0);
}

TEST_F(ClassificationLoss, OfALabelOutOfRangeFailsTheStep) {
  for (const int32_t label : {3, -1}) {
    for (const float smoothing : {0.f, 0.1f}) {
      const auto loss =
          SparseSoftmaxCrossEntropy(x, Labels({0, label}), {.label_smoothing = smoothing});
      const std::string error = ErrorOf([&] { ValueOf(loss); });
      EXPECT_NE(error.find("label value of " + std::to_string(label)), std::string::npos) << error;
      EXPECT_NE(error.find("valid range of [0, 3)"), std::string::npos) << error;
    }
  }
}

TEST_F(ClassificationLoss, OfAnEmptyBatchIsZero) {
  const auto none = Constant(g, Array<float>({0, 3}, {}));
  ExpectNear(ValueOf(SparseSoftmaxCrossEntropy(none, Constant(g, Array<int32_t>(Shape{0}, {})))),
             {0});
  ExpectNear(ValueOf(SoftmaxCrossEntropy(none, none)), {0});
  ExpectNear(ValueOf(SigmoidCrossEntropy(none, none)), {0});
}

TEST_F(ClassificationLoss, OfEachLogitAlone) {
  const auto z = Constant(g, kBinary);
  ExpectNear(ValueOf(SigmoidCrossEntropy(x, z, {.reduction = kEach})),
             {0.5981388688087463f, 0.20141328871250153f, 0.04858735203742981f, 1.103186011314392f,
              0.6443966627120972f, 0.12692800164222717f});
  ExpectNear(ValueOf(SigmoidCrossEntropy(x, z, {.reduction = kEach, .positive_weight = 3})),
             {1.7944166660308838f, 0.20141327381134033f, 0.14576205611228943f, 1.103186011314392f,
              1.9331899881362915f, 0.12692809104919434f});
  ExpectNear(ValueOf(SigmoidCrossEntropy(x, z, {.label_smoothing = 0.2f})), {0.555441677570343f});
  ExpectNear(ValueOf(SigmoidFocalCrossEntropy(x, z)), {0.07374501973390579f});
  ExpectNear(ValueOf(HingeLoss(x, z)), {0.5666666626930237f});
  ExpectNear(ValueOf(SquaredHingeLoss(x, z)), {0.7233333587646484f});
  // Scores that would overflow.
  const auto far = Constant(g, Array<float>(Floats{1000, -1000}));
  const auto ones = Constant(g, Array<float>(Floats{1, 1}));
  ExpectNear(ValueOf(SigmoidCrossEntropy(far, ones, {.reduction = kEach})), {0, 1000});
}

TEST_F(ClassificationLoss, OfDistributions) {
  ExpectNear(ValueOf(CategoricalHingeLoss(x, Constant(g, kOneHot), {.reduction = kEach})),
             {0, 0.40000003576278687f});
  const auto q = Constant(g, Array<float>({2, 3}, {0.2f, 0.3f, 0.5f, 0.6f, 0.4f, 0}));
  ExpectNear(ValueOf(KlDivergence(q, Constant(g, kSoft), {.reduction = kEach})),
             {0.08512277901172638f, 3.4742884635925293f});
}

TEST_F(ClassificationLoss, HasTheGradientOfItsDifferences) {
  const auto with = [&](const Array<float>& labels, auto loss) {
    return [&, loss](Output<float> v) { return loss(v, Constant(v.graph(), labels)); };
  };
  using O = Output<float>;
  ExpectGradient(
      with(kSoft, [](O v, O t) { return SoftmaxCrossEntropy(v, t, {.label_smoothing = 0.2f}); }),
      kLogits);
  ExpectGradient(with(kBinary,
                      [](O v, O t) {
                        return SigmoidCrossEntropy(v, t,
                                                   {.label_smoothing = 0.1f, .positive_weight = 2});
                      }),
                 kLogits);
  ExpectGradient(with(kBinary, [](O v, O t) { return SigmoidFocalCrossEntropy(v, t); }), kLogits);
  ExpectGradient(with(kBinary, [](O v, O t) { return SquaredHingeLoss(v, t); }), kLogits);
  ExpectGradient(
      [](O v) {
        return SparseSoftmaxCrossEntropy(
            v, Constant(v.graph(), Array<int32_t>(std::vector<int32_t>{2, 0})),
            {.label_smoothing = 0.3f});
      },
      kLogits);
  // At 0 the slope of a sigmoid's entropy is 1/2 - label.
  Graph h;
  const auto zero = Constant(h, 0.f);
  ExpectNear(ValueOf(GradientOf(SigmoidCrossEntropy(zero, Constant(h, 1.f)), zero)), {-0.5f});
}

TEST_F(ClassificationLoss, RefusesWhatDoesNotFit) {
  EXPECT_THROW(SoftmaxCrossEntropy(x, Constant(g, Array<float>({2, 2}, {1, 0, 0, 1}))), Error);
  EXPECT_THROW(SparseSoftmaxCrossEntropy(x, Labels({1, 2, 0})), Error);
  EXPECT_THROW(SparseSoftmaxCrossEntropy(x, Labels({1, 2}), {.label_smoothing = 2}), Error);
  EXPECT_THROW(SigmoidCrossEntropy(x, Constant(g, 1.f)), Error);
  EXPECT_THROW(SparseSoftmaxCrossEntropy(Placeholder<float>(g), Labels({1})), Error);
}

TEST_F(ClassificationLoss, OfSequences) {
  Floats logits;
  for (int i = 0; i < 4 * 2 * 3; ++i) logits.push_back(static_cast<float>(i % 5) * 0.3f);
  const Array<float> at({4, 2, 3}, logits);
  const auto loss = [&](Output<float> v) {
    Graph& h = v.graph();
    const auto ints = [&](const std::vector<int32_t>& values) {
      return Constant(h, Array<int32_t>(values));
    };
    return CtcLoss(v, Constant(h, Array<int32_t>({2, 2}, {0, 1, 1, 7})), ints({4, 3}), ints({2, 1}),
                   {.reduction = kEach});
  };
  ExpectNear(ValueOf(loss(Constant(g, at))), {1.7458829879760742f, 1.9123903512954712f});
  ExpectGradient(loss, at);
}

}  // namespace
}  // namespace penstock
