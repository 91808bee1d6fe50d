#include "penstock/client/derivatives.h"

#include <gtest/gtest.h>

#include <cmath>

#include "penstock/client/custom_gradient.h"
#include "penstock/penstock.h"

namespace penstock {
namespace {

using Doubles = std::vector<double>;

void ExpectNear(const Doubles& got, const Doubles& want, double tolerance = 1e-9) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << i;
}

class Derivatives : public ::testing::Test {
 protected:
  template <class T>
  std::vector<T> Run(const Output<T>& output) {
    Session session(g);
    session.Run(InitVariables(g));
    return session.Run(output).ToVector();
  }
  Output<double> Vector(const Doubles& values) { return Constant(g, Array<double>(values)); }

  Graph g;
};

TEST_F(Derivatives, OfOneArgumentIsOneOutput) {
  const auto slope = Grad([](auto x) { return x * x * x; });
  ExpectNear(Run(slope(Constant(g, 2.0))), {12});
  ExpectNear(Run(Grad(slope)(Constant(g, 2.0))), {12});
  ExpectNear(Run(Grad(Grad(slope))(Constant(g, 2.0))), {6});
}

TEST_F(Derivatives, OfSeveralArgumentsIsATuple) {
  const auto f = [](Output<double> x, Output<double> y, Output<double> z) { return x * y + z * z; };
  const auto [value, gradients] =
      ValueAndGrad(f)(Constant(g, 2.0), Constant(g, 5.0), Constant(g, 3.0));
  const auto [dx, dy, dz] = gradients;
  ExpectNear(Run(value), {19});
  ExpectNear(Run(dx), {5});
  ExpectNear(Run(dy), {2});
  ExpectNear(Run(dz), {6});
}

TEST_F(Derivatives, TakeOpsAndVariables) {
  const Variable<double> w(g, Constant(g, 0.5));
  ExpectNear(Run(Grad(Tanh)(w)), {1 - std::tanh(0.5) * std::tanh(0.5)});
}

TEST_F(Derivatives, ByVariablesCountAllReads) {
  const Variable<double> w(g, Vector({1, 2})), other(g, Vector({5}));
  const auto loss = Sum(w * w) + Sum(w * 3.0);
  ExpectNear(Run(GradientOf(loss, w)), {5, 7});
  const auto [dw, none] = GradientsOf(loss, std::tuple(w, other), Unconnected::kZeros);
  ExpectNear(Run(dw), {5, 7});
  ExpectNear(Run(none), {0});
}

TEST_F(Derivatives, LeaveIntegersAlone) {
  const auto f = [](Output<double> x, Output<int32_t> i) { return Gather(x, i) * 2.0; };
  const Output<double> dx = Grad(f)(Vector({1, 2, 3}), Constant<int32_t>(g, 1));
  ExpectNear(Run(dx), {0, 2, 0});
}

TEST_F(Derivatives, CountOnlyTheWaysThroughTheArguments) {
  const auto x = Constant(g, 3.0);
  const auto square = x * x;
  ExpectNear(Run(Grad([&](Output<double> v) { return v * square; })(x)), {9});
}

TEST_F(Derivatives, NameAllThatIsNotConnected) {
  const auto f = [](Output<double> x, Output<double>, Output<double>) { return x * x; };
  const auto x = Constant(g, 3.0), y = Constant(g, 4.0), z = Constant(g, 5.0);
  try {
    GradientsOf(x * x, std::tuple(x, y, z));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("does not depend on Const_1:0, Const_2:0"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW(Grad(f)(x, y, z), Error);
  const auto [dx, dy, dz] = Grad(f, Unconnected::kZeros)(x, y, z);
  ExpectNear(Run(dx), {6});
  ExpectNear(Run(dy), {0});
  const auto none = Grad(f, Unconnected::kNone)(x, y, z);
  EXPECT_TRUE(IsConnected(std::get<0>(none)));
  EXPECT_FALSE(IsConnected(std::get<1>(none)));
}

TEST_F(Derivatives, PullBackWhatArrives) {
  const auto f = [](Output<double> x, Output<double> w) { return x * w; };
  const auto [y, pullback] = Vjp(f)(Vector({1, 2}), Vector({3, 4}));
  const auto [dx, dw] = pullback(Vector({10, 100}));
  ExpectNear(Run(y), {3, 8});
  ExpectNear(Run(dx), {30, 400});
  ExpectNear(Run(dw), {10, 200});
}

// f: R^2 -> R^3 with a full Jacobian.
Output<double> Curved(Output<double> x) {
  const auto a = Gather(x, Constant<int32_t>(x.graph(), 0));
  const auto b = Gather(x, Constant<int32_t>(x.graph(), 1));
  return Concat<double>({Reshape(a * a * b, {1}), Reshape(Sin(a), {1}), Reshape(Exp(b), {1})}, 0);
}
const Doubles kAt = {0.7, -0.4};
Doubles CurvedJacobian() {
  const double a = kAt[0], b = kAt[1];
  return {2 * a * b, a * a, std::cos(a), 0, 0, std::exp(b)};
}

TEST_F(Derivatives, PushForwardDirections) {
  const auto [y, dy] = Jvp(Curved)(Vector(kAt), Vector({2, 3}));
  const Doubles j = CurvedJacobian();
  ExpectNear(Run(dy), {2 * j[0] + 3 * j[1], 2 * j[2] + 3 * j[3], 2 * j[4] + 3 * j[5]});
  ExpectNear(Run(y), {kAt[0] * kAt[0] * kAt[1], std::sin(kAt[0]), std::exp(kAt[1])});
  const auto f = [](Output<double> x, Output<double> w) { return x * Exp(w); };
  const auto [value, along] =
      Jvp(f)(std::tuple(Vector({2}), Vector({0.5})), std::tuple(Vector({1}), Vector({10})));
  ExpectNear(Run(along), {std::exp(0.5) + 20 * std::exp(0.5)});
}

TEST_F(Derivatives, AlongNothingAreZero) {
  const auto f = [](Output<double> x) { return StopGradient(x) * 2.0; };
  ExpectNear(Run(Jvp(f)(Vector({1, 2}), Vector({1, 1})).second), {0, 0});
  EXPECT_THROW(Jvp(f)(Vector({1, 2}), Vector({1, 1, 1})), Error);
}

TEST_F(Derivatives, MakeJacobians) {
  const auto jacobian = Jacobian(Curved)(Vector(kAt));
  EXPECT_EQ(jacobian.shape(), Shape({3, 2}));
  ExpectNear(Run(jacobian), CurvedJacobian());
}

TEST_F(Derivatives, MakeJacobiansInALoop) {
  // More elements than are unrolled, and then a number that is not known.
  const Doubles many(40, 0.5);
  const auto square = [](Output<double> x) { return x * x; };
  const auto jacobian = Run(Jacobian(square)(Vector(many)));
  for (int i = 0; i < 40 * 40; ++i) EXPECT_EQ(jacobian[i], i % 41 == 0 ? 1.0 : 0.0) << i;
  const auto x = Placeholder<double>(g, {-1});
  const auto dynamic = Jacobian(square)(x);
  Session session(g);
  const auto got = session.Run({{x, Doubles{1, 2, 3}}}, dynamic);
  EXPECT_EQ(got.shape(), Shape({3, 3}));
  ExpectNear(got.ToVector(), {2, 0, 0, 0, 4, 0, 0, 0, 6});
}

TEST_F(Derivatives, MakeHessians) {
  const auto f = [](Output<double> x) { return Sum(Curved(x)); };
  const double a = kAt[0], b = kAt[1];
  const Doubles hessian = {2 * b - std::sin(a), 2 * a, 2 * a, std::exp(b)};
  ExpectNear(Run(Hessian(f)(Vector(kAt))), hessian);
  ExpectNear(Run(Hvp(f)(Vector(kAt), Vector({2, 3}))),
             {2 * hessian[0] + 3 * hessian[1], 2 * hessian[2] + 3 * hessian[3]});
  const auto linear = [](Output<double> x) { return Sum(x * 3.0); };
  ExpectNear(Run(Hvp(linear)(Vector(kAt), Vector({2, 3}))), {0, 0});
}

TEST_F(Derivatives, WorkInsideLoopsAndFunctions) {
  // Newton's method for the root of x^2 - 2.
  const auto f = [](Output<double> x) { return x * x - 2.0; };
  const auto [i, root] = While([](Output<int32_t> i, Output<double>) { return i < 6; },
                               [&](Output<int32_t> i, Output<double> x) {
                                 return std::tuple(i + 1, Output<double>(x - f(x) / Grad(f)(x)));
                               },
                               std::tuple(Constant<int32_t>(g, 0), Constant(g, 1.0)));
  ExpectNear(Run(root), {std::sqrt(2.0)}, 1e-12);
  Function slope([&](Output<double> x) { return Grad(f)(x); });
  ExpectNear(Run(slope(Constant(g, 4.0))), {8});
}

// ---- derivatives of one's own ----

TEST_F(Derivatives, CanBeGiven) {
  auto straight_through =
      WithGradient([](Output<double> x) { return Round(x); },
                   [](Output<double>, Output<double>, Output<double> dy) { return dy; });
  const auto x = Vector({0.4, 1.7});
  const auto y = straight_through(x);
  ExpectNear(Run(y), {0, 2});
  ExpectNear(Run(GradientOf(y * y, x)), {0, 4});
}

TEST_F(Derivatives, ThatAreGivenSeeResultsAndOuterValues) {
  const auto scale = Constant(g, 7.0);
  auto f = WithGradient([&](Output<double> x, Output<int32_t>) { return Exp(x) * scale; },
                        [&](Output<double>, Output<int32_t> n, Output<double> y,
                            Output<double> dy) { return y * dy * Cast<double>(n) + scale; });
  const auto x = Constant(g, 0.5);
  const auto y = f(x, Constant<int32_t>(g, 3));
  ExpectNear(Run(GradientOf(y, x)), {7 * std::exp(0.5) * 3 + 7});
  // Again: y inside the rule follows the rule.
  ExpectNear(Run(GradientOf(GradientOf(y, x), x)), {(7 * std::exp(0.5) * 3 + 7 / 3.0) * 3});
}

TEST_F(Derivatives, ThatAreGivenHoldInsideFunctions) {
  auto reversed = WithGradient([](Output<double> x) { return x * 2.0; },
                               [](Output<double>, Output<double> dy) { return -dy; });
  for (const bool noinline_ : {false, true}) {
    Function f([&](Output<double> x) { return reversed(x) * x; }, {.noinline = noinline_});
    const auto x = Constant(g, 3.0);
    ExpectNear(Run(GradientOf(f(x), x)), {6 - 3});
  }
  ExpectNear(
      Run(GradientOf(reversed(reversed(Constant(g, 1.0))), Constant(g, 1.0), Unconnected::kZeros)),
      {0});
}

TEST_F(Derivatives, ThatAreGivenMustFit) {
  auto wrong = WithGradient([](Output<double> x) { return Sum(x); },
                            [](Output<double>, Output<double> dy) { return dy; });
  EXPECT_THROW(wrong(Vector({1, 2})), Error);
}

}  // namespace
}  // namespace penstock
