#include "penstock/client/recompute.h"

#include <gtest/gtest.h>

#include <cmath>

#include "penstock/device/device.h"
#include "penstock/penstock.h"
#include "penstock/session/session.h"

namespace penstock {
namespace {

constexpr int64_t kElements = 1 << 16;
constexpr int64_t kBuffer = kElements * static_cast<int64_t>(sizeof(float));

struct Outcome {
  std::vector<float> gradient;
  int64_t peak_bytes = 0;
};

// Runs one step on a device of its own.
Outcome Fetch(const Graph& g, const Output<float>& x, const Output<float>& dx,
              std::vector<std::string> disabled = {}) {
  LocalSessionOptions options;
  options.device = MakeCpuDevice();
  options.disabled_passes = std::move(disabled);
  const auto session = MakeLocalSession(g, options);
  Tensor values(DType::kFloat, Shape{kElements});
  for (int64_t i = 0; i < kElements; ++i)
    values.mutable_data<float>()[i] = static_cast<float>(i % 97) * 0.01f;
  const auto results = session->Run({{x.ref()}, {dx.ref()}, {}}, {&values, 1}, {}, nullptr);
  OrThrow(results.status());
  const Tensor& got = (*results)[0];
  return {{got.data<float>(), got.data<float>() + got.num_elements()},
          options.device->allocator()->stats().peak_bytes};
}

// A chain of segments. The derivative of a segment needs the inner value of each of its layers.
constexpr int kSegments = 8;
constexpr int kDepth = 8;
Output<float> Segment(Output<float> x) {
  for (int i = 0; i < kDepth; ++i) x = Sin(x) * Tanh(x + 0.1f);
  return x;
}

Outcome Chain(bool recompute, const std::vector<std::string>& disabled) {
  Graph g;
  const auto x = Placeholder<float>(g, {kElements});
  Output<float> y = x;
  for (int i = 0; i < kSegments; ++i) y = recompute ? Recompute(Segment)(y) : Segment(y);
  return Fetch(g, x, GradientOf(y, x), disabled);
}

TEST(Recompute, GivesTheSameForLessMemory) {
  for (const std::vector<std::string>& disabled :
       {std::vector<std::string>{}, {"fuse"}, {"fuse", "memory"}}) {
    const Outcome kept = Chain(false, disabled), again = Chain(true, disabled);
    EXPECT_EQ(kept.gradient, again.gradient);
    // Of each layer its input, sine and tangent.
    EXPECT_GE(kept.peak_bytes, 2 * kSegments * kDepth * kBuffer);
    // One value for each segment, and those of one segment; the allocator rounds up.
    EXPECT_LE(again.peak_bytes, (kSegments + 4 * kDepth + 4) * kBuffer);
  }
}

TEST(Recompute, WorksInsideOfFunctions) {
  for (const bool noinline_ : {false, true}) {
    int64_t peaks[2];
    std::vector<float> gradients[2];
    for (const bool recompute : {false, true}) {
      Graph g;
      const auto x = Placeholder<float>(g, {kElements});
      Function f(
          [&](Output<float> y) {
            for (int i = 0; i < kSegments; ++i) y = recompute ? Recompute(Segment)(y) : Segment(y);
            return y;
          },
          {.noinline = noinline_});
      const Outcome outcome = Fetch(g, x, GradientOf(f(x), x));
      peaks[recompute] = outcome.peak_bytes;
      gradients[recompute] = outcome.gradient;
    }
    EXPECT_EQ(gradients[0], gradients[1]);
    EXPECT_LE(peaks[1], peaks[0] * 2 / 3) << noinline_;
  }
}

TEST(Recompute, DrawsNoOtherRandomNumbers) {
  Graph g;
  const auto x = Placeholder<float>(g, {kElements});
  const auto dropped = [&](Output<float> v) {
    const NodeId shape = client_internal::AddConstant(
        g, Array<int32_t>(std::vector<int32_t>{static_cast<int32_t>(kElements)}), {});
    const NodeId noise = OrThrow(g.AddNode(
        {.op = "RandomUniform", .inputs = {{shape, 0}}, .attrs = {{"dtype", DType::kFloat}}}));
    return v * Output<float>(g, {noise, 0}) * Sin(v);
  };
  const auto y = Recompute(dropped)(x);
  const auto dx = GradientOf(y, x);
  // y = v n sin(v), so dy/dv = n (sin(v) + v cos(v)), with the same n.
  Session session(g);
  const std::vector<float> values(kElements, 0.5f);
  const auto [got_y, got_dx] = session.Run({{x, values}}, Fetch<float, float>(y, dx));
  const float ratio = (std::sin(0.5f) + 0.5f * std::cos(0.5f)) / (0.5f * std::sin(0.5f));
  for (int64_t i = 0; i < kElements; i += 997) EXPECT_NEAR(got_dx[i], got_y[i] * ratio, 1e-5f) << i;
}

TEST(Recompute, MayReadAndMakeVariables) {
  Graph g;
  const auto x = Constant(g, 2.f);
  std::vector<Variable<float>> made;
  const auto layer = [&](Output<float> v) {
    if (made.empty()) made.emplace_back(g, Constant(g, 3.f));
    return Sin(v * made[0]);
  };
  const auto y = Recompute(layer)(x);
  const auto again = Recompute(layer)(y);
  const auto dx = GradientOf(again, x);
  Session session(g);
  session.Run(InitVariables(g));
  const float inner = std::sin(6.f);
  EXPECT_NEAR(session.Run(dx), 9 * std::cos(3 * inner) * std::cos(6.f), 1e-5f);
}

TEST(Recompute, IsDifferentiableAgain) {
  Graph g;
  const auto x = Constant(g, 0.7);
  auto cube = Recompute([](Output<double> v) { return v * v * v; });
  const auto second = Grad(Grad(cube))(x);
  Session session(g);
  EXPECT_NEAR(session.Run(second), 6 * 0.7, 1e-12);
}

}  // namespace
}  // namespace penstock
