#include "penstock/train/nn/layer.h"

#include "penstock/train/nn/body.h"
#include "penstock/train/nn/nn.h"
#include "penstock/train/testing/layer_values.h"

namespace penstock::nn {
namespace {

using namespace testing;
using Names = std::vector<std::string>;

TEST(Layer, NamesAreThoseOfKeras) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, 8, 8, 3});
  Sequential model{Conv2D{4, 3}, BatchNorm{},    Relu,          MaxPool2D{}, Conv2D{4, 3},
                   Flatten{},    Dense{5, Relu}, Dropout{0.5f}, Dense{2}};
  model(x);
  EXPECT_EQ(VariableNames(g),
            (Names{"conv2d/kernel", "conv2d/bias", "batch_normalization/gamma",
                   "batch_normalization/beta", "batch_normalization/moving_mean",
                   "batch_normalization/moving_variance", "conv2d_1/kernel", "conv2d_1/bias",
                   "dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"}));
}

TEST(Layer, NamesFollowScopesAndWishes) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, 3});
  {
    BuildScope scope(g, Named("encoder"));
    Dense{2}(x);
    Dense{2}(x);
  }
  Dense{2, {}, {.name = "dense_1"}}(x);
  Dense{2}(x);
  Dense{2}(x);  // "dense_1" is taken
  Dense{2, {}, {.name = "head"}}(x);
  Names kernels;
  for (const std::string& name : VariableNames(g))
    if (name.ends_with("kernel")) kernels.push_back(name);
  EXPECT_EQ(kernels, (Names{"encoder/dense/kernel", "encoder/dense_1/kernel", "dense_1/kernel",
                            "dense/kernel", "dense_2/kernel", "head/kernel"}));
}

TEST(Layer, CallsShareVariables) {
  Graph g;
  const auto x = Constant(g, WaveOf({4, 3}, 0));
  Dense layer{2, Relu};
  const auto first = layer(x, Mode::kTrain);
  const Dense copy = layer;
  const auto second = copy(x);
  EXPECT_EQ(VariableNames(g), (Names{"dense/kernel", "dense/bias"}));
  const Operation init = InitVariables(g);
  Session session(g);
  session.Run(init);
  const auto [a, b] = session.Run(Fetch(first, second));
  EXPECT_EQ(a.ToVector(), b.ToVector());
}

TEST(Layer, EachGraphHasItsOwnVariables) {
  Dense layer{2};
  for (int i = 0; i < 3; ++i) {
    Graph g;  // likely where the last one was
    if (i == 1) Constant(g, 1.f);
    layer(Placeholder<float>(g, {-1, 3}));
    EXPECT_EQ(VariableNames(g), (Names{"dense/kernel", "dense/bias"}));
  }
}

TEST(Layer, AnyFunctionIsOne) {
  Graph g;
  const auto x = Constant(g, Array<float>({1, 2}, {-1, 2}));
  const Sequential model{
      Relu, [](Output<float> v) { return v * 10.f; },
      [](Output<float> v, Mode mode) { return mode == Mode::kTrain ? v + 1.f : v; }};
  ExpectNear(Evaluate(g, model(x)), {0, 20});
  ExpectNear(Evaluate(g, model(x, Mode::kTrain)), {1, 21});
}

TEST(Layer, ErrorsNameLayerAndLines) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, 3});
  const Conv2D layer{4, 3};
  const std::string made = "layer_test.cc:" + std::to_string(__LINE__ - 1);
  const std::string called = "layer_test.cc:" + std::to_string(__LINE__ + 1);
  ExpectError([&] { layer(x); }, {made, called, "conv2d", "Conv2D", "height", "[?,3]"});
  const auto indices = Placeholder<int32_t>(g, {-1});
  ExpectError([&] { Sequential{Dense{2}}(indices); }, {"dense", "expected an input of float"});
}

TEST(Layer, RefusesAnotherInputShapeLater) {
  Graph g;
  const Dense layer{2};
  layer(Placeholder<float>(g, {-1, 3}));
  ExpectError([&] { layer(Placeholder<float>(g, {-1, 4})); }, {"dense", "[3,2]", "[4,2]"});
}

TEST(Layer, WeightDecayIsAPenalty) {
  Graph g;
  const auto x = Constant(g, WaveOf({1, 2}, 0));
  const Dense layer{2, {}, {.kernel = ConstantValue(3), .l2 = 0.5f}};
  layer(x);
  layer(x);  // counts once
  ASSERT_EQ(PenaltiesOf(g).size(), 1u);
  EXPECT_FLOAT_EQ(Evaluate(g, PenaltiesOf(g)[0]), 0.5f * 4 * 9);
}

// The example of docs/LAYERS.md.
class ScaleBody final : public Body {
 public:
  explicit ScaleBody(CallSite site) : Body("Scale", "scale", "", site) {}
  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    return inputs[0] * context.Weight("factor", {context.Channels(inputs[0])}, Ones());
  }
};
class Scale : public Layer {
 public:
  explicit Scale(CallSite site = CallSite::Here()) : Layer(std::make_shared<ScaleBody>(site)) {}
};

TEST(Layer, UsersWriteTheirOwn) {
  Graph g;
  const auto x = Constant(g, WaveOf({2, 3}, 0));
  const auto y = Sequential{Scale{}, Scale{}}(x);
  EXPECT_EQ(VariableNames(g), (Names{"scale/factor", "scale_1/factor"}));
  ExpectNear(Evaluate(g, y), Wave(6, 0));
  ExpectGradientsReachAll(g, y);
}

TEST(Layer, IsCalledInsideOfLoopsOnceItHasVariables) {
  Graph g;
  const auto x = Constant(g, WaveOf({4, 3}, 0));
  const Dense layer{2, Tanh};
  const auto rows = layer(x);
  const Layer norm = LayerNorm{{.scale = false, .center = false}};  // has none
  const auto mapped = Map([&](Output<float> row) { return norm(layer(ExpandDims(row, 0))); }, x);
  const auto [together, apart] = std::pair(norm(rows), Reshape{{2}}(mapped));
  EXPECT_EQ(AllVariables(g).size(), 2u);
  ExpectNear(Evaluate(g, apart), Evaluate(g, together).ToVector());
  ExpectGradientsReachAll(g, apart);
  ExpectError([&] { Map([](Output<float> row) { return Dense{2}(ExpandDims(row, 0)); }, x); },
              {"outside of functions"});
}

TEST(Compose, ResidualAndBranches) {
  Graph g;
  const auto x = Constant(g, Array<float>({1, 2}, {1, 2}));
  auto twice = [](Output<float> v) { return v * 2.f; };
  ExpectNear(Evaluate(g, Residual(twice)(x)), {3, 6});
  ExpectNear(Evaluate(g, Residual(twice, twice)(x)), {4, 8});
  ExpectNear(Evaluate(g, Branches{twice, Relu, twice}(x)), {2, 4, 1, 2, 2, 4});
  ExpectError([&] { Residual(Dense{3})(x); }, {"Residual", "shortcut", "[1,2]", "[1,3]"});
  ExpectError([&] { Branches(std::vector<Layer>{}); }, {"Branches", "at least one"});
}

}  // namespace
}  // namespace penstock::nn
