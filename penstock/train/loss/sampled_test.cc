#include "penstock/train/loss/sampled.h"

#include "penstock/graph/gradients.h"
#include "penstock/train/testing/loss_values.h"

// The expected values were recorded from TensorFlow 2.21.

namespace penstock {
namespace {

using namespace loss_testing;

class SampledLoss : public ::testing::Test {
 protected:
  static constexpr int kClasses = 6;
  static constexpr int kDepth = 2;

  Graph g;
  Variable<float> weights{g, MakeWeights(), "weights"};
  Variable<float> biases{g, MakeBiases(), "biases"};
  Output<float> inputs = Constant(g, Array<float>({2, kDepth}, {1, -2, 0.5f, 0.3f}));
  Output<int64_t> labels = Constant(g, Array<int64_t>({2, 1}, {3, 1}));

  static Array<float> MakeWeights() {
    Floats values;
    for (int i = 0; i < kClasses * kDepth; ++i) values.push_back(static_cast<float>(i - 5) * 0.1f);
    return Array<float>({kClasses, kDepth}, values);
  }
  static Array<float> MakeBiases() {
    Floats values;
    for (int i = 0; i < kClasses; ++i) values.push_back(static_cast<float>(i) * 0.05f);
    return Array<float>(values);
  }
  // Class 3 is also the true one of row 0.
  Candidates Drawn(const Array<float>& expected_of_labels) {
    return {Constant(g, Array<int64_t>(std::vector<int64_t>{0, 3, 5})),
            Constant(g, expected_of_labels), Constant(g, Array<float>(Floats{0.9f, 0.4f, 0.2f}))};
  }
  SampledLossOptions Each(std::optional<bool> remove_hits = {}) {
    SampledLossOptions options;
    options.reduction = Reduction::kNone;
    options.candidates = Drawn(Array<float>({2, 1}, {0.4f, 0.7f}));
    options.remove_accidental_hits = remove_hits;
    return options;
  }
};

TEST_F(SampledLoss, IsThatOfTensorFlow) {
  ExpectNear(ValueOf(SampledSoftmaxLoss(weights, biases, labels, inputs, Each())),
             {1.1564610004425049f, 2.5177910327911377f});
  ExpectNear(ValueOf(SampledSoftmaxLoss(weights, biases, labels, inputs, Each(false))),
             {1.429991602897644f, 2.5177910327911377f});
  ExpectNear(ValueOf(NceLoss(weights, biases, labels, inputs, Each())),
             {3.8781228065490723f, 5.000255584716797f});
  ExpectNear(ValueOf(NceLoss(weights, biases, labels, inputs, Each(true))),
             {2.7301583290100098f, 5.000255584716797f});
}

TEST_F(SampledLoss, TakesSeveralTrueClassesOrAVector) {
  SampledLossOptions options = Each();
  ExpectNear(ValueOf(SampledSoftmaxLoss(weights, biases, Reshape(labels, {2}), inputs, options)),
             {1.1564610004425049f, 2.5177910327911377f});
  options.candidates = Drawn(Array<float>({2, 2}, {0.4f, 0.3f, 0.7f, 0.9f}));
  const auto two = Constant(g, Array<int64_t>({2, 2}, {3, 4, 1, 0}));
  ExpectNear(ValueOf(SampledSoftmaxLoss(weights, biases, two, inputs, options)),
             {1.395865797996521f, 2.748448371887207f});
  ExpectNear(ValueOf(NceLoss(weights, biases, two, inputs, options)),
             {5.053261756896973f, 5.800468921661377f});
}

TEST_F(SampledLoss, HasRowsForGradientOfTheTable) {
  const auto loss = Sum(SampledSoftmaxLoss(weights, biases, labels, inputs, Each()));
  const auto gradients = OrThrow(AddSparseGradients(
      Scope(g), {.ys = {loss.ref()}, .xs = {{weights.handle(), 0}, {biases.handle(), 0}}}));
  ASSERT_TRUE(gradients[0].has_rows());
  ASSERT_TRUE(gradients[1].has_rows());
  EXPECT_EQ(ValueOf(Output<int64_t>(g, gradients[0].indices)),
            (std::vector<int64_t>{3, 1, 0, 3, 5}));
  ExpectNear(ValueOf(Output<float>(g, gradients[0].dense)),
             {0.24470236897468567f, -0.4233149588108063f, -0.4596812129020691f,
              -0.27580875158309937f, 0, 0, -0.5780160427093506f, 1.4352365732192993f, 0, 0,
              0.7929949760437012f, -0.7361130118370056f});
}

TEST_F(SampledLoss, HasTheGradientOfItsDifferences) {
  for (const bool nce : {false, true}) {
    ExpectGradient(
        [&](Output<float> x) {
          Graph& h = x.graph();
          const Variable<float> w(h, MakeWeights()), b(h, MakeBiases());
          SampledLossOptions options;
          options.candidates =
              Candidates{Constant(h, Array<int64_t>(std::vector<int64_t>{0, 3, 5})),
                         Constant(h, Array<float>({2, 1}, {0.4f, 0.7f})),
                         Constant(h, Array<float>(Floats{0.9f, 0.4f, 0.2f}))};
          const auto truth = Constant(h, Array<int64_t>({2, 1}, {3, 1}));
          return nce ? NceLoss(w, b, truth, x, options)
                     : SampledSoftmaxLoss(w, b, truth, x, options);
        },
        Array<float>({2, kDepth}, {1, -2, 0.5f, 0.3f}));
  }
}

TEST_F(SampledLoss, DrawsByItself) {
  for (const Sampler sampler :
       {Sampler::kLogUniform, Sampler::kUniform, Sampler::kLearnedUnigram}) {
    SampledLossOptions options;
    options.sampling = {.sampler = sampler, .num_sampled = 4, .seed = 5};
    const auto loss = SampledSoftmaxLoss(weights, biases, labels, inputs, options);
    EXPECT_EQ(loss.shape(), Shape({}));
    const Floats value = ValueOf(loss);
    EXPECT_TRUE(std::isfinite(value[0])) << value[0];
    EXPECT_EQ(ValueOf(loss), value);  // the seed says which
  }
}

// With all classes drawn, and each expected once, the loss is the full softmax's.
TEST_F(SampledLoss, OfAllClassesIsTheFullLoss) {
  SampledLossOptions options;
  options.reduction = Reduction::kNone;
  options.candidates = Candidates{
      Constant(g, Array<int64_t>(std::vector<int64_t>{0, 1, 2, 3, 4, 5})),
      Constant(g, Array<float>({2, 1}, {1, 1})), Constant(g, Array<float>(Floats(6, 1)))};
  const auto sampled = SampledSoftmaxLoss(weights, biases, labels, inputs, options);
  const Floats w = MakeWeights().ToVector(), b = MakeBiases().ToVector();
  const float x[2][2] = {{1, -2}, {0.5f, 0.3f}};
  const int truth[2] = {3, 1};
  Floats full;
  for (int r = 0; r < 2; ++r) {
    double sum = 0, own = 0;
    for (int c = 0; c < kClasses; ++c) {
      const double logit = x[r][0] * w[c * 2] + x[r][1] * w[c * 2 + 1] + b[c];
      sum += std::exp(logit);
      if (c == truth[r]) own = logit;
    }
    full.push_back(static_cast<float>(std::log(sum) - own));
  }
  ExpectNear(ValueOf(sampled), full);
}

TEST_F(SampledLoss, OfALabelOutOfRangeFailsTheStep) {
  SampledLossOptions options;
  options.sampling.num_sampled = 2;
  const auto wrong = Constant(g, Array<int64_t>({2, 1}, {3, kClasses}));
  const auto loss = SampledSoftmaxLoss(weights, biases, wrong, inputs, options);
  const std::string error = ErrorOf([&] { ValueOf(loss); });
  EXPECT_NE(error.find("INVALID_ARGUMENT"), std::string::npos) << error;
  EXPECT_NE(error.find("6"), std::string::npos) << error;
}

TEST_F(SampledLoss, RefusesWhatDoesNotFit) {
  EXPECT_THROW(SampledSoftmaxLoss(biases, biases, labels, inputs), Error);
  EXPECT_THROW(SampledSoftmaxLoss(weights, weights, labels, inputs), Error);
  SampledLossOptions options;
  options.sampling.num_sampled = 10;  // more than there are classes, none twice
  EXPECT_THROW(SampledSoftmaxLoss(weights, biases, labels, inputs, options), Error);
}

}  // namespace
}  // namespace penstock
