#include "penstock/train/nn/pool.h"

#include "penstock/train/nn/nn.h"
#include "penstock/train/testing/layer_values.h"

namespace penstock::nn {
namespace {

using namespace testing;

TEST(MaxPool, TakesTheLargest) {
  Graph g;
  const auto x = Constant(g, Array<float>({1, 2, 4, 1}, {1, 2, 3, 4, 8, 7, 6, 5}));
  ExpectNear(Evaluate(g, MaxPool2D{}(x)), {8, 6});
  ExpectNear(Evaluate(g, MaxPool2D{{1, 3}, {.strides = 1}}(x)), {3, 4, 8, 7});
  ExpectNear(Evaluate(g, MaxPool2D{2, {.padding = kSame}}(x)), {8, 6});
}

TEST(MaxPool, PaddingIsLessThanAnything) {
  Graph g;
  const auto x = Constant(g, Array<float>({1, 2, 2, 1}, {-1, -2, -3, -4}));
  ExpectNear(Evaluate(g, MaxPool2D{2, {.padding = 1}}(x)), {-1, -2, -3, -4});
  const auto line = Constant(g, Array<float>({1, 3, 1}, {-1, -2, -3}));
  ExpectNear(Evaluate(g, MaxPool1D{2, {.padding = {{1, 0}}}}(line)), {-1, -2});
  const auto solid = Constant(g, Array<float>({1, 1, 1, 2, 1}, {-1, -2}));
  ExpectNear(Evaluate(g, MaxPool3D{{1, 1, 2}, {.padding = {{0, 0}, {0, 0}, {1, 1}}}}(solid)),
             {-1, -2});
}

TEST(AvgPool, TakesTheMean) {
  Graph g;
  const auto x = Constant(g, Array<float>({1, 2, 4, 1}, {1, 2, 3, 4, 8, 7, 6, 5}));
  ExpectNear(Evaluate(g, AvgPool2D{}(x)), {4.5, 4.5});
  // What kSame adds is not counted; what the user adds is.
  const auto line = Constant(g, Array<float>({1, 3, 1}, {1, 2, 6}));
  ExpectNear(Evaluate(g, AvgPool1D{2, {.padding = kSame}}(line)), {1.5, 6});
  ExpectNear(Evaluate(g, AvgPool1D{2, {.padding = {{0, 1}}}}(line)), {1.5, 3});
  const auto solid = Constant(g, WaveOf({1, 2, 2, 2, 1}, 0));
  float sum = 0;
  for (const float v : Wave(8, 0)) sum += v;
  ExpectNear(Evaluate(g, AvgPool3D{}(solid)), {sum / 8});
}

TEST(GlobalPool, LeavesBatchAndChannels) {
  Graph g;
  const auto x = Constant(g, Array<float>({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 0}));
  ExpectNear(Evaluate(g, GlobalAvgPool{}(x)), {2, 3, 6, 3});
  ExpectNear(Evaluate(g, GlobalMaxPool{}(x)), {3, 4, 7, 6});
  EXPECT_EQ(GlobalAvgPool{}(Placeholder<float>(g, {-1, -1, 5})).shape(), (Shape{-1, 5}));
  ExpectError(
      [&] {
        GlobalAvgPool{}(Placeholder<float>(g, {-1, 5}));
      },
      {"global_average", "[?,5]"});
}

TEST(Pool, PassesGradientsOn) {
  Graph g;
  const auto x = Constant(g, WaveOf({1, 4, 4, 2}, 0));
  const Sequential model{Conv2D{3, 1, {}, {.kernel = WaveInit(1)}},
                         Branches{MaxPool2D{3, {.strides = 1, .padding = 1}},
                                  AvgPool2D{3, {.strides = 1, .padding = kSame}}},
                         AvgPool2D{2}, GlobalAvgPool{}};
  ExpectGradientsReachAll(g, model(x));
}

TEST(Pool, RefusesWhatItCannotUse) {
  Graph g;
  const std::string line = "pool_test.cc:" + std::to_string(__LINE__ + 1);
  ExpectError([] { MaxPool2D{0}; }, {line, "MaxPool2D", "window"});
  ExpectError([] { (MaxPool2D{2, {.padding = kCausal}}); }, {"causal"});
  ExpectError([&] { AvgPool1D{}(Placeholder<float>(g, {-1, 8})); }, {"average_pooling1d", "steps"});
}

}  // namespace
}  // namespace penstock::nn
