#include "penstock/train/nn/conv_variants.h"

#include "penstock/train/nn/nn.h"
#include "penstock/train/testing/layer_values.h"

namespace penstock::nn {
namespace {

using namespace testing;

// Channel c of a [1, 4, 4, 2] wave under its filters of window 2: [1, 3, 3, 2 * 3].
std::vector<float> Depthwise(const std::vector<float>& x, const std::vector<float>& w) {
  std::vector<float> y;
  for (size_t r = 0; r < 3; ++r)
    for (size_t c = 0; c < 3; ++c)
      for (size_t k = 0; k < 2; ++k)
        for (size_t m = 0; m < 3; ++m) {
          float sum = 0;
          for (size_t i = 0; i < 4; ++i)
            sum += x[((r + i / 2) * 4 + c + i % 2) * 2 + k] * w[(i * 2 + k) * 3 + m];
          y.push_back(sum);
        }
  return y;
}

TEST(DepthwiseConv2D, KeepsChannelsApart) {
  Graph g;
  const auto x = Constant(g, WaveOf({1, 4, 4, 2}, 0));
  const auto y = DepthwiseConv2D{2, {}, {.kernel = WaveInit(1)}, 3}(x);
  EXPECT_EQ(y.shape(), (Shape{1, 3, 3, 6}));
  EXPECT_EQ(VariableNames(g), (std::vector<std::string>{"depthwise_conv2d/depthwise_kernel",
                                                        "depthwise_conv2d/bias"}));
  ExpectNear(Evaluate(g, y), Depthwise(Wave(32, 0), Wave(24, 1)));
  ExpectGradientsReachAll(g, y);
}

TEST(SeparableConv2D, MixesChannelsAfterwards) {
  Graph g;
  const auto x = Constant(g, WaveOf({1, 4, 4, 2}, 0));
  const auto y = SeparableConv2D{2, 2, {}, {.kernel = WaveInit(1)}, 3}(x);
  EXPECT_EQ(VariableNames(g)[1], "separable_conv2d/pointwise_kernel");
  const std::vector<float> apart = Depthwise(Wave(32, 0), Wave(24, 1)), mix = Wave(12, 1);
  std::vector<float> want;
  for (size_t place = 0; place < 9; ++place)
    for (size_t f = 0; f < 2; ++f) {
      float sum = 0;
      for (size_t k = 0; k < 6; ++k) sum += apart[place * 6 + k] * mix[k * 2 + f];
      want.push_back(sum);
    }
  ExpectNear(Evaluate(g, y), want);
  ExpectGradientsReachAll(g, y);
}

// Recorded from PyTorch 2 on the same waves.
const std::vector<float> kTransposed{
    0.296334,  0.198484,  -0.641144, 0.316535,  -1.362891, 1.295751,  0.030003,  0.040824,
    0.932878,  -1.282449, 0.589021,  -0.387455, 0.509692,  -0.115897, -0.918115, 0.963982,
    -0.872513, 0.551763,  -0.106901, -0.101862, 0.734702,  -0.72752,  0.756671,  -0.706009,
    -0.403826, 0.712097,  -1.037285, 0.761183,  -0.99444,  0.361324,  -0.324939, -0.259133,
    1.811739,  -1.846558, 1.099114,  -0.461813, -1.277328, 1.945344,  -1.940471, 1.281912,
    -1.349884, 0.69384,   0.645945,  -0.289871, 0.742551,  -1.000102, 1.265644,  -1.177176,
    -0.302584, 0.678561,  -1.272505, 1.43199,   -0.143332, -0.436669, 0.629676,  -0.566562,
    0.952151,  -0.629824, 0.894164,  -0.52137,  -0.878685, 1.13782,   -0.889989, 0.744008,
    0.58067,   -1.147156, 1.048659,  -1.134395, 0.922033,  -0.371505};

TEST(Conv2DTranspose, AgreesWithPyTorch) {
  Graph g;
  const auto x = Constant(g, WaveOf({1, 2, 3, 2}, 0));
  const auto y = Conv2DTranspose{2, 3, {}, {.strides = 2, .kernel = WaveInit(1)}}(x);
  EXPECT_EQ(y.shape(), (Shape{1, 5, 7, 2}));
  ExpectNear(Evaluate(g, y), kTransposed);
  ExpectGradientsReachAll(g, y);
}

TEST(Conv2DTranspose, TakesAnySize) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, -1, 3, 2});
  const auto y = Conv2DTranspose{2, 3, {}, {.strides = 2, .kernel = WaveInit(1)}}(x);
  EXPECT_EQ(y.shape(), (Shape{-1, -1, 7, 2}));
  const auto same = Conv2DTranspose{2, 3, {}, {.strides = 2, .padding = kSame}}(x);
  EXPECT_EQ(same.shape(), (Shape{-1, -1, 6, 2}));
  const Operation init = InitVariables(g);
  Session session(g);
  session.Run(init);
  ExpectNear(session.Run({{x, WaveOf({1, 2, 3, 2}, 0)}}, y), kTransposed);
  EXPECT_EQ(session.Run({{x, WaveOf({1, 2, 3, 2}, 0)}}, same).shape(), (Shape{1, 4, 6, 2}));
}

TEST(ConvVariants, RefuseWhatTheyCannotUse) {
  Graph g;
  ExpectError([] { (DepthwiseConv2D{3, {}, {}, 0}); }, {"DepthwiseConv2D", "multiplier"});
  ExpectError([] { (SeparableConv2D{0, 3}); }, {"SeparableConv2D", "filters"});
  ExpectError([] { (Conv2DTranspose{4, 3, {}, {.padding = 1}}); }, {"Conv2DTranspose", "padding"});
  ExpectError([] { (DepthwiseConv2D{3, {}, {.groups = 2}}); }, {"groups"});
  ExpectError(
      [&] {
        DepthwiseConv2D{3}(Placeholder<float>(g, {1, 4, 4, -1}));
      },
      {"depthwise_conv2d", "known"});
}

}  // namespace
}  // namespace penstock::nn
