#include "penstock/client/gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "penstock/graph/text_graph.h"
#include "penstock/penstock.h"

namespace penstock {
namespace {

using Doubles = std::vector<double>;
using F = std::function<Output<double>(Output<double>)>;

// Compares the graph's derivative of sum(f(x)) with central differences.
void ExpectGradient(const F& f, const Doubles& at, const SessionOptions& options = {}) {
  Graph g;
  const auto x = Placeholder<double>(g, Shape{static_cast<int64_t>(at.size())}, "x");
  const auto y = f(x);
  const auto dx = GradientOf(y, x);
  Session session(g, options);
  auto total = [&](const Doubles& value) {
    double sum = 0;
    for (const double v : session.Run({{x, value}}, y).ToVector()) sum += v;
    return sum;
  };
  const Doubles got = session.Run({{x, at}}, dx).ToVector();
  ASSERT_EQ(got.size(), at.size());
  for (size_t i = 0; i < at.size(); ++i) {
    Doubles above = at, below = at;
    constexpr double kStep = 1e-5;
    above[i] += kStep;
    below[i] -= kStep;
    const double want = (total(above) - total(below)) / (2 * kStep);
    EXPECT_NEAR(got[i], want, 1e-6 * (1 + std::abs(want))) << i;
  }
}

TEST(GradientOf, SumsOverPaths) {
  ExpectGradient([](Output<double> x) { return x * x * Sigmoid(x) + Tanh(x) * x; }, {0.3, -2, 1});
}

TEST(GradientOf, TellsWhatDoesNotDepend) {
  Graph g;
  const auto a = Constant(g, 1.0), b = Constant(g, 2.0);
  try {
    GradientOf(a * a, b);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("does not depend on Const_1"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(GradientOf(Constant<int32_t>(g, 1), a), Error);
}

TEST(GradientOf, GoesThroughCalls) {
  for (const bool noinline_ : {false, true}) {
    Function f([](Output<double> x) { return Tanh(x) * Exp(x); }, {.noinline = noinline_});
    ExpectGradient([&](Output<double> x) { return f(f(x) * x); }, {0.3, -0.7});
  }
}

TEST(GradientOf, GoesThroughTheBranchThatWasTaken) {
  auto f = [](Output<double> x) {
    const auto scale = Exp(x);
    return Cond(
        Sum(x) > 0.0, [&] { return Tanh(x) * scale; }, [&] { return x * x; });
  };
  ExpectGradient(f, {0.3, 0.7});
  ExpectGradient(f, {0.3, -0.7});
}

TEST(GradientOf, GoesThroughLoops) {
  for (const double rounds : {0.0, 1.0, 5.0}) {
    ExpectGradient(
        [&](Output<double> x) {
          const auto [i, y] =
              While([&](Output<double> i, Output<double>) { return i < rounds; },
                    [&](Output<double> i, Output<double> y) {
                      return std::tuple(i + 1.0, Output<double>(Tanh(y * x) + Sigmoid(y)));
                    },
                    std::tuple(Constant(x.graph(), 0.0), Output<double>(x)));
          return y;
        },
        {0.3, -0.7});
  }
}

TEST(GradientOf, GoesThroughNestedLoopsAndBranches) {
  ExpectGradient(
      [&](Output<double> x) {
        Graph& g = x.graph();
        const auto [i, y] = While([&](Output<int32_t> i, Output<double>) { return i < 3; },
                                  [&](Output<int32_t> i, Output<double> y) {
                                    const auto [j, inner] = While(
                                        [&](Output<int32_t> j, Output<double>) { return j < i; },
                                        [&](Output<int32_t> j, Output<double> z) {
                                          const auto next = Cond(
                                              Sum(z) > 0.5, [&] { return Tanh(z) * x; },
                                              [&] { return Exp(z) * 0.5; });
                                          return std::tuple(j + 1, Output<double>(next));
                                        },
                                        std::tuple(Constant<int32_t>(g, 0), y));
                                    return std::tuple(i + 1, Output<double>(inner * y));
                                  },
                                  std::tuple(Constant<int32_t>(g, 0), Output<double>(x)));
        return y;
      },
      {0.4, 0.9, -0.2});
}

TEST(GradientOf, GoesThroughScansAndMaps) {
  ExpectGradient(
      [](Output<double> x) { return Map([](Output<double> v) { return v * Exp(v); }, x); },
      {0.4, 0.9, -0.2});
  ExpectGradient(
      [](Output<double> x) {
        return Scan([](Output<double> sum, Output<double> v) { return Tanh(sum * v) + v; }, x,
                    Constant(x.graph(), 0.5));
      },
      {0.4, 0.9, -0.2});
}

TEST(GradientOf, IsDifferentiableAgain) {
  ExpectGradient(
      [](Output<double> x) {
        Function f([](Output<double> v) { return v * v * Tanh(v); }, {.noinline = true});
        return GradientOf(f(x), x);
      },
      {0.4, 0.9});
  ExpectGradient(
      [](Output<double> x) {
        const auto [i, y] = While([&](Output<int32_t> i, Output<double>) { return i < 3; },
                                  [&](Output<int32_t> i, Output<double> y) {
                                    return std::tuple(i + 1, Output<double>(Tanh(y * x)));
                                  },
                                  std::tuple(Constant<int32_t>(x.graph(), 0), Output<double>(x)));
        return GradientOf(y, x);
      },
      {0.4, 0.9});
}

// The derivative of y by x, both nodes of a text graph.
void ExpectGradientOfText(std::string_view text, const Doubles& points) {
  Graph g;
  OrThrow(AddTextGraph(text, &g));
  const Output<double> x(g, *g.FindOutput("x")), y(g, *g.FindOutput("y"));
  const auto dx = GradientOf(y, x);
  OrThrow(g.Verify());
  Session session(g);
  for (const double at : points) {
    constexpr double kStep = 1e-5;
    auto value = [&](double v) { return session.Run({{x, v}}, y)[0]; };
    const double want = (value(at + kStep) - value(at - kStep)) / (2 * kStep);
    EXPECT_NEAR(session.Run({{x, at}}, dx)[0], want, 1e-6 * (1 + std::abs(want))) << at;
  }
}

TEST(GradientOf, GoesThroughBranchesOfPrimitives) {
  ExpectGradientOfText(R"(
    x = Placeholder(dtype=double, shape=[])
    zero = Const(value=double 0)
    p = Greater(x, zero)
    both = Switch(x, p)
    a = Exp(both:0)
    b = Mul(both:1, both:1)
    m = Merge(a, b)
    y = Tanh(m)
  )",
                       {-0.5, 0.7});
}

TEST(GradientOf, GoesThroughLoopsOfPrimitives) {
  constexpr char kLoop[] = R"(
    x = Placeholder(dtype=double, shape=[])
    zero = Const(value=int32 0)
    enter_i = Enter(zero, frame_name="loop")
    enter_v = Enter(x, frame_name="loop")
    scale = Enter(x, frame_name="loop", is_constant=true)
    i = Merge(enter_i, next_i)
    v = Merge(enter_v, next_v)
    n = Const(^i, value=int32 4)
    less = Less(i, n)
    go = LoopCond(less)
    both_i = Switch(i, go)
    both_v = Switch(v, go)
    at_i = Identity(both_i:1)
    at_v = Identity(both_v:1)
    one = Const(^at_i, value=int32 1)
    sum = AddV2(at_i, one)
    half = Const(^at_i, value=double 0.5)
    p = Greater(at_v, half)
    sides = Switch(at_v, p)
    low = Exp(sides:0)
    high = Tanh(sides:1)
    joined = Merge(low, high)
    product = Mul(joined, scale)
    next_i = NextIteration(sum)
    next_v = NextIteration(product)
    done_i = Exit(both_i:0)
    done_v = Exit(both_v:0)
    y = Mul(done_v, done_v)
  )";
  ExpectGradientOfText(kLoop, {-0.5, 0.7, 1.3});
}

}  // namespace
}  // namespace penstock
