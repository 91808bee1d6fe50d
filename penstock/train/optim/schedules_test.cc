#include "penstock/train/optim/schedules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "penstock/penstock.h"
#include "penstock/train/optim/optimizers.h"
#include "penstock/train/parameters.h"

namespace penstock {
namespace {

constexpr double kPi = std::numbers::pi;

// The rate at each of these steps.
void ExpectRates(const Rate& rate, const std::map<int, double>& wanted) {
  Graph g;
  const auto step = Placeholder<float>(g, {}, "step");
  const auto value = rate.At(step);
  Session session(g);
  for (const auto& [at, want] : wanted) {
    const float got = session.Run({{step, static_cast<float>(at)}}, value);
    EXPECT_NEAR(got, want, 2e-6 * (1e-3 + std::abs(want))) << "step " << at;
  }
}

TEST(Schedules, Number) { ExpectRates(0.25, {{0, 0.25}, {1000, 0.25}}); }

TEST(Schedules, Function) {
  ExpectRates([](Output<float> step) { return 1.f / (1.f + step); }, {{0, 1}, {3, 0.25}});
}

TEST(Schedules, Exponential) {
  const ExponentialDecay smooth{.initial = 0.1, .decay_steps = 100, .decay_rate = 0.96};
  ExpectRates(smooth,
              {{0, 0.1}, {50, 0.1 * std::pow(0.96, 0.5)}, {250, 0.1 * std::pow(0.96, 2.5)}});
  ExponentialDecay stairs = smooth;
  stairs.staircase = true;
  ExpectRates(stairs, {{0, 0.1}, {99, 0.1}, {100, 0.096}, {250, 0.1 * 0.96 * 0.96}});
}

TEST(Schedules, NaturalExponential) {
  ExpectRates(NaturalExpDecay{.initial = 0.1, .decay_steps = 10, .decay_rate = 0.5},
              {{0, 0.1}, {10, 0.1 * std::exp(-0.5)}, {25, 0.1 * std::exp(-1.25)}});
}

TEST(Schedules, InverseTime) {
  ExpectRates(InverseTimeDecay{.initial = 0.1, .decay_steps = 10, .decay_rate = 0.5},
              {{0, 0.1}, {10, 0.1 / 1.5}, {25, 0.1 / 2.25}});
  ExpectRates(
      InverseTimeDecay{.initial = 0.1, .decay_steps = 10, .decay_rate = 0.5, .staircase = true},
      {{9, 0.1}, {25, 0.05}});
}

TEST(Schedules, Polynomial) {
  ExpectRates(PolynomialDecay{.initial = 0.1, .decay_steps = 100, .end = 0.01, .power = 2},
              {{0, 0.1}, {50, 0.09 * 0.25 + 0.01}, {100, 0.01}, {1000, 0.01}});
  // Past its end the way is stretched to 200, 300, ...
  ExpectRates(PolynomialDecay{.initial = 0.1, .decay_steps = 100, .end = 0.01, .cycle = true},
              {{0, 0.1}, {50, 0.055}, {100, 0.01}, {150, 0.09 * 0.25 + 0.01}, {200, 0.01}});
}

TEST(Schedules, Piecewise) {
  ExpectRates(PiecewiseConstant{.boundaries = {10, 20}, .values = {1, 0.5, 0.1}},
              {{0, 1}, {10, 1}, {11, 0.5}, {20, 0.5}, {21, 0.1}, {9999, 0.1}});
}

TEST(Schedules, Cosine) {
  ExpectRates(CosineDecay{.initial = 0.2, .decay_steps = 100, .alpha = 0.1},
              {{0, 0.2},
               {25, 0.2 * (0.9 * 0.5 * (1 + std::cos(kPi / 4)) + 0.1)},
               {50, 0.2 * (0.45 + 0.1)},
               {100, 0.02},
               {500, 0.02}});
}

TEST(Schedules, CosineWithRestarts) {
  // Periods of 10, 20, 40 steps; heights 1, 0.8, 0.64.
  ExpectRates(CosineRestarts{.initial = 0.1, .first_decay_steps = 10, .t_mul = 2, .m_mul = 0.8},
              {{0, 0.1},
               {5, 0.05},
               {9, 0.1 * 0.5 * (1 + std::cos(kPi * 0.9))},
               {15, 0.08 * 0.5 * (1 + std::cos(kPi * 0.25))},
               {20, 0.04},
               {50, 0.032}});
  ExpectRates(CosineRestarts{.initial = 0.1, .first_decay_steps = 10, .t_mul = 1},
              {{0, 0.1}, {5, 0.05}, {10, 0.1}, {15, 0.05}});
}

TEST(Schedules, LinearCosine) {
  ExpectRates(LinearCosineDecay{.initial = 0.1, .decay_steps = 100, .num_periods = 0.5},
              {{0, 0.1 * 1.001}, {50, 0.1 * (0.5 * 0.5 + 0.001)}, {100, 0.0001}, {200, 0.0001}});
}

TEST(Schedules, WarmupThenAnother) {
  ExpectRates(
      LinearWarmup{.steps = 10,
                   .then = ExponentialDecay{.initial = 0.1, .decay_steps = 100, .decay_rate = 0.5}},
      {{0, 0}, {5, 0.05}, {10, 0.1}, {110, 0.05}});
  ExpectRates(LinearWarmup{.steps = 4, .then = 1, .start = 0.2}, {{0, 0.2}, {2, 0.6}, {4, 1}});
}

TEST(Schedules, Noam) {
  ExpectRates(NoamDecay{.model_size = 256, .warmup_steps = 100, .scale = 2},
              {{0, 2.0 / 16 * 1e-3}, {99, 2.0 / 16 * 0.1}, {399, 2.0 / 16 * 0.05}});
}

TEST(Schedules, InverseSqrt) {
  ExpectRates(InverseSqrtDecay{.initial = 0.3, .decay_steps = 100},
              {{0, 0.3}, {100, 0.3}, {400, 0.15}, {900, 0.1}});
}

TEST(Schedules, OneCycle) {
  // The peak is at step 0.4 * 101 - 1.4 = 39; the end at 100.
  const double first = 0.1 / 25, last = first / 1e4, top = 40.0 / 101 * 101 - 1;
  const auto between = [](double a, double b, double part) {
    return b + (a - b) / 2 * (1 + std::cos(kPi * part));
  };
  ExpectRates(OneCycle{.peak = 0.1, .steps = 101, .rising = 40.0 / 101},
              {{0, first},
               {10, between(first, 0.1, 10 / top)},
               {39, 0.1},
               {70, between(0.1, last, (70 - top) / (100 - top))},
               {100, last},
               {500, last}});
}

TEST(Schedules, FollowTheGlobalStep) {
  Graph g;
  Variable<float> w(g, Constant(g, 0.f), "w");
  const auto loss = w.Read();  // of slope 1
  const auto step =
      SGD{.rate = PiecewiseConstant{.boundaries = {0}, .values = {1, 0.5}}}.Minimize(loss);
  const auto steps = GlobalStep(g).Read();
  Session session(g);
  session.Run(InitVariables(g));
  for (const float want : {-1.f, -1.5f, -2.f}) {
    session.Run(step);
    EXPECT_EQ(float(session.Run(w.Read())), want);
  }
  EXPECT_EQ(int64_t(session.Run(steps)), 3);
}

TEST(Schedules, RefuseWhatMakesNoSense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(Rate(-0.1).Check().ok());
  EXPECT_FALSE(Rate(nan).Check().ok());
  EXPECT_FALSE(Rate(ExponentialDecay{.decay_steps = 0}).Check().ok());
  EXPECT_FALSE(Rate(ExponentialDecay{.decay_rate = nan}).Check().ok());
  EXPECT_FALSE(Rate(PolynomialDecay{.power = -1}).Check().ok());
  EXPECT_FALSE(Rate(PiecewiseConstant{.boundaries = {1, 2}, .values = {1, 2}}).Check().ok());
  EXPECT_FALSE(Rate(PiecewiseConstant{.boundaries = {2, 1}, .values = {1, 2, 3}}).Check().ok());
  EXPECT_FALSE(Rate(PiecewiseConstant{}).Check().ok());
  EXPECT_FALSE(Rate(CosineRestarts{.t_mul = 0.5}).Check().ok());
  EXPECT_FALSE(Rate(OneCycle{.rising = 1}).Check().ok());
  EXPECT_FALSE(Rate(NoamDecay{.warmup_steps = 0}).Check().ok());
  // Also behind a warm-up.
  EXPECT_FALSE(Rate(LinearWarmup{.then = CosineDecay{.decay_steps = -3}}).Check().ok());
}

}  // namespace
}  // namespace penstock
