#include <random>

#include "penstock/train/loss/losses.h"
#include "penstock/train/nn/nn.h"
#include "penstock/train/parameters.h"
#include "penstock/train/testing/loss_values.h"

// Losses, layers, gradients and metrics together.

namespace penstock {
namespace {

using namespace loss_testing;

// Steps of gradient descent on all trainable variables.
Operation Descend(const Output<float>& loss, float rate) {
  Graph& g = loss.graph();
  std::vector<Operation> updates;
  for (const Parameter& parameter : TrainableVariables(g)) {
    const auto w = Variable<float>::Of(g, parameter.handle);
    updates.push_back(w.AssignSub(GradientOf(loss, w) * rate));
  }
  return Group(updates);
}

TEST(Training, LearnsToTellTwoRingsApart) {
  Graph g;
  const auto points = Placeholder<float>(g, {-1, 2});
  const auto rings = Placeholder<int32_t>(g, {-1});
  const nn::Sequential model{nn::Dense{16, nn::Activation(Tanh)}, nn::Dense{2}};
  const auto logits = model(points);
  const auto loss = SparseSoftmaxCrossEntropy(logits, rings);
  const auto accuracy = AccuracyOf(logits, rings);
  const Operation step = Descend(loss, 0.5f);

  std::mt19937 random(7);
  std::uniform_real_distribution<float> angle(0, 6.2831853f);
  Floats xy;
  std::vector<int32_t> label;
  for (int i = 0; i < 128; ++i) {
    const float a = angle(random), radius = i % 2 == 0 ? 0.5f : 1.5f;
    xy.insert(xy.end(), {radius * std::cos(a), radius * std::sin(a)});
    label.push_back(i % 2);
  }
  const Array<float> batch({128, 2}, xy);
  Session session(g);
  session.Run(InitVariables(g));
  for (int i = 0; i < 400; ++i) session.Run({{points, batch}, {rings, label}}, step);
  session.Run({{points, batch}, {rings, label}}, accuracy.update);
  EXPECT_GE(float(session.Run(accuracy.value)), 0.98f);
}

TEST(Training, OfRecomputedLayersIsTheSame) {
  Graph g;
  const auto x = Placeholder<float>(g, {4, 8, 8, 2});
  const nn::Sequential block{nn::Conv2D{4, 3, nn::Activation(Relu)}, nn::Conv2D{4, 3}};
  const auto loss = [&](const Output<float>& y) { return MeanSquaredError(y, ZerosLike(y)); };
  const auto kept = loss(block(x));
  const auto again = loss(Recompute(block)(x, nn::Mode::kTrain));
  Session session(g);
  session.Run(InitVariables(g));
  Floats pixels;
  for (int i = 0; i < 4 * 8 * 8 * 2; ++i) pixels.push_back(static_cast<float>(i % 13) * 0.1f);
  const Array<float> images({4, 8, 8, 2}, pixels);
  for (const Parameter& parameter : TrainableVariables(g)) {
    const auto w = Variable<float>::Of(g, parameter.handle);
    const auto [a, b] =
        session.Run({{x, images}}, Fetch(GradientOf(kept, w), GradientOf(again, w)));
    EXPECT_EQ(a.ToVector(), b.ToVector()) << parameter.name;
  }
}

}  // namespace
}  // namespace penstock
