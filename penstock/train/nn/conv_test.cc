#include "penstock/train/nn/conv.h"

#include "penstock/train/nn/nn.h"
#include "penstock/train/testing/layer_values.h"

namespace penstock::nn {
namespace {

using namespace testing;

// A convolution over [1, height, width, channels] by its definition.
struct Plain {
  int64_t height, width, channels, filters, window, stride = 1, dilation = 1, groups = 1;
  int64_t before = 0, after = 0;  // padding of both axes

  int64_t Extent(int64_t in) const {
    return (in + before + after - dilation * (window - 1) - 1) / stride + 1;
  }
  std::vector<float> operator()(const std::vector<float>& x, const std::vector<float>& w) const {
    std::vector<float> y;
    for (int64_t r = 0; r < Extent(height); ++r)
      for (int64_t c = 0; c < Extent(width); ++c)
        for (int64_t f = 0; f < filters; ++f) y.push_back(At(x, w, r, c, f));
    return y;
  }
  float At(const std::vector<float>& x, const std::vector<float>& w, int64_t r, int64_t c,
           int64_t f) const {
    const int64_t in_group = channels / groups, first = f / (filters / groups) * in_group;
    float sum = 0;
    for (int64_t i = 0; i < window; ++i) {
      for (int64_t j = 0; j < window; ++j) {
        const int64_t row = r * stride + i * dilation - before;
        const int64_t column = c * stride + j * dilation - before;
        if (row < 0 || row >= height || column < 0 || column >= width) continue;
        for (int64_t k = 0; k < in_group; ++k) {
          sum += x[size_t((row * width + column) * channels + first + k)] *
                 w[size_t(((i * window + j) * in_group + k) * filters + f)];
        }
      }
    }
    return sum;
  }
};

void ExpectPlain(const Plain& plain, ConvOptions options) {
  Graph g;
  const auto x = Constant(g, WaveOf({1, plain.height, plain.width, plain.channels}, 0));
  options.kernel = WaveInit(1);
  options.bias = false;
  const auto y = Conv2D{plain.filters, plain.window, {}, options}(x);
  EXPECT_EQ(y.shape(),
            (Shape{1, plain.Extent(plain.height), plain.Extent(plain.width), plain.filters}));
  const int64_t weights =
      plain.window * plain.window * plain.channels / plain.groups * plain.filters;
  ExpectNear(Evaluate(g, y),
             plain(Wave(plain.height * plain.width * plain.channels, 0), Wave(weights, 1)));
  ExpectGradientsReachAll(g, y);
}

TEST(Conv2D, FollowsItsDefinition) {
  ExpectPlain({.height = 5, .width = 6, .channels = 2, .filters = 3, .window = 3}, {});
}
TEST(Conv2D, Strides) {
  ExpectPlain({.height = 5, .width = 6, .channels = 2, .filters = 3, .window = 3, .stride = 2},
              {.strides = 2});
}
TEST(Conv2D, SamePadding) {
  ExpectPlain(
      {.height = 5, .width = 6, .channels = 2, .filters = 3, .window = 3, .before = 1, .after = 1},
      {.padding = kSame});
}
TEST(Conv2D, ExplicitPadding) {
  const Plain plain{.height = 5,
                    .width = 6,
                    .channels = 2,
                    .filters = 3,
                    .window = 3,
                    .stride = 2,
                    .before = 2,
                    .after = 1};
  ExpectPlain(plain, {.strides = 2, .padding = {{2, 1}, {2, 1}}});
  ExpectPlain(
      {.height = 4, .width = 4, .channels = 1, .filters = 2, .window = 2, .before = 1, .after = 1},
      {.padding = 1});
}
TEST(Conv2D, Dilation) {
  ExpectPlain({.height = 6, .width = 6, .channels = 1, .filters = 2, .window = 2, .dilation = 3},
              {.dilation = 3});
}
TEST(Conv2D, Groups) {
  ExpectPlain({.height = 4, .width = 4, .channels = 4, .filters = 6, .window = 2, .groups = 2},
              {.groups = 2});
}

TEST(Conv2D, BiasAndActivation) {
  Graph g;
  const auto x = Constant(g, WaveOf({1, 2, 2, 1}, 0));
  const auto y = Conv2D{2, 1, Relu, {.kernel = Ones(), .bias_value = ConstantValue(0.25f)}}(x);
  std::vector<float> want;
  for (const float v : Wave(4, 0)) want.insert(want.end(), 2, std::max(v + 0.25f, 0.f));
  ExpectNear(Evaluate(g, y), want);
}

TEST(Conv2D, TakesAnyBatch) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, 9, 7, 3});
  EXPECT_EQ((Conv2D{4, {3, 2}, Relu, {.strides = {2, 1}}}(x).shape()), (Shape{-1, 4, 6, 4}));
  const auto any_size = Placeholder<float>(g, {-1, -1, -1, 3});
  EXPECT_EQ((Conv2D{4, 3}(any_size).shape()), (Shape{-1, -1, -1, 4}));
}

TEST(Conv1D, IsConv2DOfHeightOne) {
  Graph g;
  const auto x = Constant(g, WaveOf({1, 6, 2}, 0));
  const auto y =
      Conv1D{3, 2, {}, {.strides = 2, .kernel = WaveInit(1), .bias_value = WaveInit(2)}}(x);
  EXPECT_EQ(AllVariables(g)[0].shape, (Shape{2, 2, 3}));
  const std::vector<float> in = Wave(12, 0), w = Wave(12, 1), b = Wave(3, 2);
  std::vector<float> want;
  for (size_t t = 0; t < 3; ++t) {
    for (size_t f = 0; f < 3; ++f) {
      float sum = b[f];
      for (size_t k = 0; k < 4; ++k) sum += in[t * 4 + k] * w[k * 3 + f];
      want.push_back(sum);
    }
  }
  EXPECT_EQ(y.shape(), (Shape{1, 3, 3}));
  ExpectNear(Evaluate(g, y), want);
  ExpectGradientsReachAll(g, y);
}

TEST(Conv1D, CausalSeesNothingLater) {
  Graph g;
  const auto x = Constant(g, Array<float>({1, 4, 1}, {1, 10, 100, 1000}));
  const auto y = Conv1D{1, 2, {}, {.padding = kCausal, .dilation = 2, .kernel = Ones()}}(x);
  ExpectNear(Evaluate(g, y), {1, 10, 101, 1010});
}

TEST(Conv3D, SumsOverItsWindow) {
  Graph g;
  const auto x = Constant(g, WaveOf({1, 3, 3, 3, 2}, 0));
  const auto y = Conv3D{1, 2, {}, {.padding = {{0, 0}, {0, 0}, {1, 0}}, .kernel = Ones()}}(x);
  EXPECT_EQ(y.shape(), (Shape{1, 2, 2, 3, 1}));
  const std::vector<float> in = Wave(54, 0);
  std::vector<float> want;
  for (int d = 0; d < 2; ++d)
    for (int r = 0; r < 2; ++r)
      for (int c = -1; c < 2; ++c) {
        float sum = 0;
        for (int i = 0; i < 16; ++i) {
          const int column = c + (i / 2) % 2;
          if (column >= 0)
            sum += in[size_t((((d + i / 8) * 3 + r + (i / 4) % 2) * 3 + column) * 2 + i % 2)];
        }
        want.push_back(sum);
      }
  ExpectNear(Evaluate(g, y), want);
  ExpectGradientsReachAll(g, y);
}

TEST(Conv, RefusesWhatItCannotUse) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, 8, 8, 3});
  const std::string line = "conv_test.cc:" + std::to_string(__LINE__ + 1);
  ExpectError([] { Conv2D{0, 3}; }, {line, "Conv2D", "filters", "got 0"});
  ExpectError([] { Conv2D{4, 0}; }, {"window", "at least 1", "got 0"});
  ExpectError([] { (Conv2D{4, {3, 3, 3}}); }, {"window", "one number or 2", "got 3"});
  ExpectError([] { (Conv2D{4, 3, {}, {.strides = 0}}); }, {"strides"});
  ExpectError([] { (Conv2D{4, 3, {}, {.padding = -1}}); }, {"padding", "negative"});
  ExpectError([] { (Conv2D{4, 3, {}, {.padding = kCausal}}); }, {"causal"});
  ExpectError([] { (Conv2D{4, 3, {}, {.groups = 3}}); }, {"4 filters", "3 groups"});
  ExpectError([&] { (Conv2D{4, 3, {}, {.groups = 2}}(x)); }, {"conv2d", "3 channels", "2 groups"});
  ExpectError([&] { Conv2D{4, 3}(Placeholder<float>(g, {-1, 8, 8, -1})); }, {"conv2d", "known"});
  ExpectError([&] { Conv2D{4, 3}(Placeholder<float>(g, {-1, 8, 8})); }, {"[?,8,8]"});
  ExpectError([&] { Conv2D{4, 9}(x); }, {"conv2d"});
}

}  // namespace
}  // namespace penstock::nn
