#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <numeric>

#include "penstock/penstock.h"
#include "penstock/train/optim/optimizers.h"

namespace penstock {
namespace {

using Vector = std::vector<double>;

double Dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Algorithm 7.4 of Nocedal & Wright with steps as PyTorch's LBFGS takes them: a queue of pairs in
// place of a ring.
class Reference {
 public:
  Reference(size_t history, double rate) : history_(history), rate_(rate) {}

  void Step(const Vector& g, Vector& x) {
    if (!step_.empty()) {
      Vector y(g.size());
      for (size_t i = 0; i < g.size(); ++i) y[i] = g[i] - gradient_[i];
      const double curvature = Dot(y, step_);
      if (curvature > 1e-10) {
        pairs_.push_front({step_, y, 1 / curvature});
        if (pairs_.size() > history_) pairs_.pop_back();
        scale_ = curvature / Dot(y, y);
      }
    }
    Vector d(g.size());
    for (size_t i = 0; i < g.size(); ++i) d[i] = -g[i];
    Vector weights;
    for (const Pair& pair : pairs_) {
      weights.push_back(pair.inverse * Dot(pair.s, d));
      for (size_t i = 0; i < d.size(); ++i) d[i] -= weights.back() * pair.y[i];
    }
    for (double& v : d) v *= scale_;
    for (size_t k = pairs_.size(); k-- > 0;) {
      const double beta = pairs_[k].inverse * Dot(pairs_[k].y, d);
      for (size_t i = 0; i < d.size(); ++i) d[i] += pairs_[k].s[i] * (weights[k] - beta);
    }
    double norm1 = 0;
    for (const double v : g) norm1 += std::abs(v);
    const double length = (step_.empty() ? std::min(1.0, 1 / norm1) : 1.0) * rate_;
    for (double& v : d) v *= length;
    for (size_t i = 0; i < d.size(); ++i) x[i] += d[i];
    step_ = d;
    gradient_ = g;
  }

 private:
  struct Pair {
    Vector s, y;
    double inverse;
  };
  const size_t history_;
  const double rate_;
  std::deque<Pair> pairs_;  // the newest first
  Vector step_, gradient_;
  double scale_ = 1;
};

// sum of (1 - x)^2 + 5 (y - x^2)^2, a valley that bends.
TEST(Lbfgs, FollowsTheReference) {
  for (const int64_t history : {1, 3, 10}) {
    Graph g;
    Variable<double> x(g, Array<double>({1, 2}, {-0.5, 0.3}), "x");
    Variable<double> y(g, Array<double>({2}, {0.2, -0.4}), "y");
    const auto vx = Reshape(x.Read(), {2}), vy = y.Read();
    const auto flat = 1.0 - vx, bend = vy - vx * vx;
    const auto loss = Sum(flat * flat + 5.0 * bend * bend);
    const auto step = LBFGS{.rate = 0.5, .history = history}.Minimize(loss);
    Session session(g);
    session.Run(InitVariables(g));
    Reference reference(static_cast<size_t>(history), 0.5);
    Vector want = {-0.5, 0.3, 0.2, -0.4};
    for (int t = 0; t < 12; ++t) {
      Vector gradient(4);
      for (size_t i = 0; i < 2; ++i) {
        const double bent = want[2 + i] - want[i] * want[i];
        gradient[i] = -2 * (1 - want[i]) - 20 * bent * want[i];
        gradient[2 + i] = 10 * bent;
      }
      reference.Step(gradient, want);
      session.Run(step);
      const auto [got_x, got_y] = session.Run(Fetch(x.Read(), y.Read()));
      for (size_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(got_x[static_cast<int64_t>(i)], want[i], 1e-7) << history << " at " << t;
        EXPECT_NEAR(got_y[static_cast<int64_t>(i)], want[2 + i], 1e-7) << history << " at " << t;
      }
    }
  }
}

TEST(Lbfgs, FindsTheMinimum) {
  Graph g;
  Variable<float> x(g, Array<float>({3}, {5, -3, 2}), "x");
  const auto away = x.Read() - Constant(g, Array<float>({3}, {1, 2, 3}));
  const auto loss = Sum(away * away * Constant(g, Array<float>({3}, {1, 10, 100})));
  const auto step = LBFGS{}.Minimize(loss);
  Session session(g);
  session.Run(InitVariables(g));
  for (int t = 0; t < 30; ++t) session.Run(step);
  EXPECT_LT(float(session.Run(loss)), 1e-6f);
}

TEST(Lbfgs, NeedsVariablesOfOneType) {
  Graph g;
  Variable<float> a(g, Array<float>({1}, {5}), "a");
  Variable<double> b(g, Array<double>({1}, {5}), "b");
  const auto loss = Sum(a.Read()) + Sum(Cast<float>(b.Read()));
  EXPECT_THROW(LBFGS{}.Minimize(loss), Error);
}

}  // namespace
}  // namespace penstock
