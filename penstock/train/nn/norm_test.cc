#include "penstock/train/nn/norm.h"

#include "penstock/train/nn/nn.h"
#include "penstock/train/testing/layer_values.h"

// Expected values were recorded from PyTorch 2 on the same waves.

namespace penstock::nn {
namespace {

using namespace testing;

TEST(LayerNorm, AgreesWithPyTorch) {
  Graph g;
  const auto y = LayerNorm{}(Constant(g, WaveOf({2, 6}, 0)));
  EXPECT_EQ(VariableNames(g),
            (std::vector<std::string>{"layer_normalization/gamma", "layer_normalization/beta"}));
  ExpectNear(Evaluate(g, y), {-0.235884, 1.300141, -1.023283, -1.36827, 1.132002, 0.195295,
                              -1.109737, -0.581861, 1.542666, 0.476765, -1.101357, 0.773524});
  ExpectGradientsReachAll(g, y);
}

TEST(LayerNorm, TakesFurtherAxesAndNoWeights) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, -1, 6});
  const auto y = LayerNorm{{.scale = false, .center = false}}(x);
  EXPECT_EQ(y.shape(), x.shape());
  EXPECT_TRUE(AllVariables(g).empty());
  const std::vector<float> got = Session(g).Run({{x, WaveOf({1, 2, 6}, 0)}}, y).ToVector();
  EXPECT_NEAR(got[1], 1.300141, 1e-4);
}

TEST(GroupNorm, AgreesWithPyTorch) {
  const std::vector<float> want{
      -0.70073, 0.99455,   -0.002537, -0.392381, 0.808978,  -0.224847, -0.908272, -0.222766,
      0.909754, -0.442168, -0.897391, 1.537353,  0.716808,  -2.062343, -0.857847, 1.743842,
      2.32853,  -0.785683, -1.637271, 1.085204,  0.456728,  -0.903836, -1.377205, 1.078073,
      0.216639, -0.727777, 0.586493,  -0.11659,  -0.012597, -0.572004, 0.746032,  -0.364736};
  Graph g;
  const auto y = GroupNorm{2}(Constant(g, WaveOf({2, 2, 2, 4}, 0)));
  ExpectNear(Evaluate(g, y), want, 2e-5f);
  ExpectGradientsReachAll(g, y);
  const auto x = Placeholder<float>(g, {-1, -1, -1, 4});
  const auto any = GroupNorm{2}(x);
  EXPECT_EQ(any.shape(), x.shape());
  const Operation init = InitVariables(g);
  Session session(g);
  session.Run(init);
  ExpectNear(session.Run({{x, WaveOf({2, 2, 2, 4}, 0)}}, any), want, 2e-5f);
}

TEST(LocalResponseNorm, AgreesWithPyTorch) {
  Graph g;
  const LocalResponseNorm layer{{.radius = 1, .bias = 2, .alpha = 0.3f, .beta = 0.75f}};
  const auto y = layer(Constant(g, WaveOf({1, 1, 1, 6}, 0)));
  ExpectNear(Evaluate(g, y), {0, 0.508624, -0.248753, -0.364079, 0.446873, 0.147973});
}

TEST(Norm, RefusesWhatItCannotUse) {
  Graph g;
  ExpectError([] { GroupNorm{0}; }, {"GroupNorm", "groups"});
  ExpectError([] { (LayerNorm{{.epsilon = -1}}); }, {"LayerNorm", "epsilon"});
  ExpectError([&] { GroupNorm{3}(Placeholder<float>(g, {2, 4})); }, {"4 channels", "3 groups"});
  ExpectError([&] { LayerNorm{}(Placeholder<float>(g, {2, -1})); }, {"layer_normalization"});
  ExpectError([] { (LocalResponseNorm{{.radius = -1}}); }, {"radius"});
}

TEST(Activations, AgreeWithPyTorch) {
  Graph g;
  const auto x = Constant(g, Array<float>(std::vector<float>{-4, -1, -0.3f, 0, 0.8f, 3.5f}));
  ExpectNear(Evaluate(g, Gelu(x)), {-0.000126, -0.158655, -0.114627, 0, 0.630516, 3.499186});
  ExpectNear(Evaluate(g, GeluTanh(x)), {-7e-05, -0.158808, -0.114629, 0, 0.630432, 3.499384});
  ExpectNear(Evaluate(g, Silu(x)), {-0.071945, -0.268941, -0.127667, 0, 0.55198, 3.397407});
  ExpectNear(Evaluate(g, HardSigmoid(x)), {0, 0.333333, 0.45, 0.5, 0.633333, 1});
  const auto row = Constant(g, Array<float>({1, 6}, {-4, -1, -0.3f, 0, 0.8f, 3.5f}));
  ExpectNear(Evaluate(g, Softmax(row)),
             {0.000489, 0.009818, 0.019772, 0.026689, 0.059398, 0.883833});
  ExpectNear(Evaluate(g, LogSoftmax(row)),
             {-7.623487, -4.623487, -3.923487, -3.623487, -2.823488, -0.123487});
  EXPECT_EQ((Dense{3, Softmax}(row).shape()), (Shape{1, 3}));
}

}  // namespace
}  // namespace penstock::nn
