#include "penstock/train/zoo/zoo.h"

#include <cmath>

#include "penstock/penstock.h"
#include "penstock/train/nn/nn.h"
#include "penstock/train/optim/optimizers.h"
#include "penstock/train/testing/layer_values.h"

namespace penstock::zoo {
namespace {

using nn::CountParameters;
using nn::Mode;

// The graph of a model on images, without running it: the large ones would take long.
struct Built {
  Graph graph;
  Shape output;
};
Built Build(const nn::Sequential& model, int64_t size, int64_t channels = 3) {
  Built built;
  const auto x = Placeholder<float>(built.graph, {-1, size, size, channels});
  built.output = model(x, Mode::kTrain).shape();
  return built;
}

// Counts of PyTorch's models of the same form (torchvision's where it has one: alexnet, vgg11,
// resnet50) and of Keras' InceptionV3.
TEST(Zoo, HasTheKnownNumbersOfParameters) {
  struct Row {
    const char* name;
    nn::Sequential model;
    int64_t size, channels, trainable, other;
  };
  for (const Row& row : {
           Row{"alexnet", AlexNet(), 224, 3, 61100840, 0},
           Row{"overfeat", Overfeat(), 231, 3, 145920872, 0},
           Row{"oxfordnet", OxfordNet(), 224, 3, 132863336, 0},
           Row{"googlenet", GoogleNet(), 224, 3, 6998552, 0},
           Row{"inception_v3", InceptionV3(), 299, 3, 23817352, 34432},
           Row{"resnet50", ResNet50(), 224, 3, 25557032, 53120},
           Row{"mnist_cnn", MnistCnn(), 28, 1, 1663370, 0},
       }) {
    SCOPED_TRACE(row.name);
    const Built built = Build(row.model, row.size, row.channels);
    EXPECT_EQ(built.output, (Shape{-1, row.channels == 1 ? 10 : 1000}));
    EXPECT_EQ(CountParameters(built.graph).trainable, row.trainable);
    EXPECT_EQ(CountParameters(built.graph).other, row.other);
  }
}

TEST(Zoo, VariablesOfInceptionAreNamedAsKerasDoes) {
  const Built built = Build(InceptionV3(), 299);
  const auto names = nn::testing::VariableNames(built.graph);
  EXPECT_EQ(names[0], "conv2d/kernel");
  EXPECT_EQ(names[1], "batch_normalization/beta");
  EXPECT_EQ(names[names.size() - 3], "batch_normalization_93/moving_variance");
  EXPECT_EQ(names.back(), "dense/bias");
}

// Runs a model on small images and goes down its gradient for a few steps.
void ExpectLearns(const char* name, const nn::Sequential& model, int64_t size, int64_t channels,
                  float rate, const std::function<Output<float>(Output<float>)>& view = {}) {
  SCOPED_TRACE(name);
  Graph g;
  const auto x = Constant(g, nn::testing::WaveOf({4, size, size, channels}, 0));
  const auto seen = view ? view(x) : x;
  const auto logits = model(seen, Mode::kInfer);
  ASSERT_EQ(logits.shape(), (Shape{4, 10}));
  const auto y = nn::LogSoftmax(logits);
  // The class of entry i is i.
  std::vector<float> hot(40, 0);
  for (size_t i = 0; i < 4; ++i) hot[i * 10 + i] = -0.25f;
  const auto loss = Sum(y * Constant(g, Array<float>({4, 10}, hot)));
  const Operation step = SGD{.rate = rate}.Minimize(loss), init = InitVariables(g);
  Session session(g);
  session.Run(init);
  const float before = session.Run(loss);
  EXPECT_NEAR(before, std::log(10.f), 1.5);
  for (int i = 0; i < 30; ++i) session.Run(step);
  EXPECT_LT(static_cast<float>(session.Run(loss)), 0.7f * before);
}

TEST(Zoo, SmallModelsLearn) {
  auto rows = [](Output<float> x) { return Reshape(x, {4, 64}); };
  ExpectLearns("digits_mlp", DigitsMlp(), 8, 1, 0.5f, rows);
  ExpectLearns("digits_cnn", DigitsCnn(), 8, 1, 0.2f);
  ExpectLearns("fashion_cnn", FashionCnn(), 28, 1, 0.02f);
  ExpectLearns("mnist_cnn", MnistCnn(), 28, 1, 0.05f);
}

TEST(Zoo, AnImageGoesThroughTheDeepOnes) {
  // Of these the number of places does not matter.
  for (const nn::Sequential& model : {ResNet50({.classes = 10}), GoogleNet({.classes = 10})}) {
    Graph g;
    const auto y = model(Constant(g, nn::testing::WaveOf({1, 64, 64, 3}, 0)));
    for (const float v : nn::testing::Evaluate(g, y)) EXPECT_TRUE(std::isfinite(v));
  }
}

TEST(LstmLm, GoesOnFromItsState) {
  Graph g;
  const LstmLm model({.vocabulary = 11, .units = 4, .layers = 2, .dropout = 0.5f});
  const auto ids = Constant(g, Array<int32_t>({2, 3}, {1, 2, 3, 4, 5, 10}));
  const auto whole = model.Hidden(ids);
  EXPECT_EQ(whole.rows.shape(), (Shape{6, 4}));
  const auto first = model.Hidden(Slice(ids, {0, 0}, {2, 1}));
  const auto rest = model.Hidden(Slice(ids, {0, 1}, {2, 2}), Mode::kInfer, first.state);
  const auto logits = model.head()(whole.rows);
  const auto end = model.head()(rest.rows);
  EXPECT_EQ(logits.shape(), (Shape{6, 11}));
  const Array<float> all = nn::testing::Evaluate(g, logits), last = nn::testing::Evaluate(g, end);
  for (int64_t c = 0; c < 11; ++c) {
    EXPECT_NEAR(all(2, c), last(1, c), 1e-5);
    EXPECT_NEAR(all(5, c), last(3, c), 1e-5);
  }
  const int64_t lstm = 4 * (4 * 4 + 4 * 4 + 4);
  EXPECT_EQ(CountParameters(g).trainable, 11 * 4 + 2 * lstm + 11 * 4 + 11);
  nn::testing::ExpectGradientsReachAll(g, logits);
}

TEST(LstmLm, TheHeadsVariablesServeSampledLosses) {
  Graph g;
  const LstmLm model({.vocabulary = 11, .units = 4});
  const auto [weights, biases] = model.head().VariablesIn(g);
  EXPECT_EQ(weights.name(), "softmax/weights");
  EXPECT_EQ(weights.shape(), (Shape{11, 4}));
  EXPECT_EQ(biases.shape(), (Shape{11}));
  model.head()(Constant(g, Shape{2, 4}, 1.f));
  EXPECT_EQ(AllVariables(g).size(), 2u);
  EXPECT_EQ(model.head().VariablesIn(g).weights.handle(), weights.handle());
  nn::testing::ExpectError([] { LstmLm({.layers = 0}); }, {"LstmLm", "layer"});
}

TEST(SkipGram, AWordIsMostSimilarToItself) {
  Graph g;
  const SkipGram model({.vocabulary = 9, .units = 5});
  const auto words = Constant(g, Array<int32_t>(std::vector<int32_t>{3, 8}));
  EXPECT_EQ(model.Embed(words).shape(), (Shape{2, 5}));
  const Array<float> got = nn::testing::Evaluate(g, model.Similarity(words));
  EXPECT_NEAR(got(0, 3), 1, 1e-5);
  EXPECT_NEAR(got(1, 8), 1, 1e-5);
  for (int64_t c = 0; c < 9; ++c) EXPECT_LE(got(0, c), 1 + 1e-5);
  EXPECT_EQ(model.head().VariablesIn(g).weights.name(), "nce/weights");
}

TEST(TransformerLm, CountsAsItsFormSays) {
  Graph g;
  const TransformerLmOptions options{
      .vocabulary = 50, .max_length = 16, .features = 32, .heads = 4, .layers = 3};
  const auto ids = Placeholder<int32_t>(g, {-1, -1});
  const auto logits = TransformerLm(options)(ids);
  EXPECT_EQ(logits.shape(), (Shape{-1, -1, 50}));
  // A block: two norms, four projections, two dense layers.
  const int64_t f = 32, block = 2 * 2 * f + 4 * (f * f + f) + (4 * f * f + 4 * f) + (4 * f * f + f);
  EXPECT_EQ(CountParameters(g).trainable, 50 * f + 16 * f + 3 * block + 2 * f + f * 50);
  const Operation init = InitVariables(g);
  Session session(g);
  session.Run(init);
  const Array<float> got =
      session.Run({{ids, Array<int32_t>({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 49})}}, logits);
  EXPECT_EQ(got.shape(), (Shape{2, 5, 50}));
  EXPECT_THROW(session.Run({{ids, Array<int32_t>({1, 17}, std::vector<int32_t>(17, 1))}}, logits),
               Error);
}

TEST(TransformerLm, HasGradients) {
  Graph g;
  const auto ids = Constant(g, Array<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6}));
  const nn::Sequential model =
      TransformerLm({.vocabulary = 7, .max_length = 3, .features = 4, .heads = 2, .layers = 1});
  nn::testing::ExpectGradientsReachAll(g, model(ids));
}

}  // namespace
}  // namespace penstock::zoo
