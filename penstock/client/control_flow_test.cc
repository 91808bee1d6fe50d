#include "penstock/client/control_flow.h"

#include <gtest/gtest.h>

#include "penstock/graph/graph_def.h"
#include "penstock/penstock.h"

namespace penstock {
namespace {

using Floats = std::vector<float>;

TEST(Function, IsWrittenDownOnceForEachShape) {
  Graph g;
  int traced = 0;
  Function square([&](Output<float> x) {
    ++traced;
    return x * x;
  });
  const auto x = Placeholder<float>(g, {2});
  const auto y = square(square(x));
  const auto z = square(Constant(g, 3.f));
  EXPECT_EQ(traced, 2);
  EXPECT_EQ(y.shape(), (Shape{2}));
  Session session(g);
  EXPECT_EQ(session.Run({{x, Floats{1, 2}}}, y).ToVector(), (Floats{1, 16}));
  EXPECT_EQ(session.Run(z)[0], 9);
  // Nothing of the lambda is left in the graph itself.
  EXPECT_EQ(g.FindNode("Mul"), kNoNode);
}

TEST(Function, CapturesOuterValuesAndVariables) {
  Graph g;
  const auto scale = Constant(g, 10.f);
  Variable<float> v(g, Array<float>(1.f), "v");
  Function bump([&](Output<float> x) {
    v.AssignAdd(x * scale);
    const auto before = v.Read();
    v.AssignAdd(Constant(g, 100.f));
    return std::tuple(before, x);
  });
  const auto [first, same] = bump(Constant(g, 2.f));
  for (const bool inlined : {false, true}) {
    SessionOptions options;
    if (!inlined) options.disabled_passes = {"inline"};
    Session session(g, options);
    session.Run(InitVariables(g));
    EXPECT_EQ(session.Run(first)[0], 21) << inlined;
    EXPECT_EQ(session.Run(v.Read())[0], 121) << inlined;
  }
}

TEST(Function, SurvivesExport) {
  Graph g;
  Function twice([](Output<float> x) { return x + x; }, {.name = "twice", .noinline = true});
  const auto x = Placeholder<float>(g, {}, "x");
  const auto y = Cond(
      x > 0.f, [&] { return twice(x); }, [&] { return -x; });
  const std::string name = y.name();
  const Result<std::string> wire = SerializeGraphDef(g);
  ASSERT_TRUE(wire.ok()) << wire.status().ToString();
  Result<Graph> read = ParseGraphDef(*wire, StandardOps());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(*SerializeGraphDef(*read), *wire);
  Session session(*read);
  EXPECT_EQ(session.Run({{"x:0", Tensor::Scalar(3.f)}}, {name})[0].scalar<float>(), 6);
  EXPECT_EQ(session.Run({{"x:0", Tensor::Scalar(-3.f)}}, {name})[0].scalar<float>(), 3);
}

TEST(Function, VariablesAreMadeOutside) {
  Graph g;
  Function bad([&](Output<float> x) {
    Variable<float> v(g, Array<float>(1.f), "inner");
    return x + v.Read();
  });
  const int nodes = g.num_live_nodes();
  EXPECT_THROW(bad(Constant(g, 1.f)), Error);
  EXPECT_EQ(g.num_live_nodes(), nodes + 1);  // the constant
  EXPECT_TRUE(g.collections["variables"].empty());
}

TEST(Function, AnErrorInsideLeavesNothingBehind) {
  Graph g;
  const auto a = Placeholder<float>(g, {2});
  const int nodes = g.num_live_nodes();
  Function bad([&](Output<float> x) { return MatMul(x, x); });
  const int line = __LINE__ - 1;
  try {
    bad(a);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("control_flow_test.cc:" + std::to_string(line)),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(g.num_live_nodes(), nodes);
}

TEST(Cond, TakesOneBranch) {
  Graph g;
  Variable<float> v(g, Array<float>(0.f), "v");
  const auto x = Placeholder<float>(g, {});
  const auto y = Cond(
      x > 0.f, [&] { return std::tuple(x * 2.f, x); },
      [&] {
        v.Assign(x);
        return std::tuple(x, Constant(g, 7.f));
      });
  Session session(g);
  session.Run(InitVariables(g));
  EXPECT_EQ(session.Run({{x, 4.f}}, std::get<0>(y))[0], 8);
  EXPECT_EQ(session.Run(v.Read())[0], 0);
  EXPECT_EQ(session.Run({{x, -4.f}}, std::get<1>(y))[0], 7);
  EXPECT_EQ(session.Run(v.Read())[0], -4);
}

TEST(Cond, OfOperations) {
  Graph g;
  Variable<float> v(g, Array<float>(0.f), "v");
  const auto up = Placeholder<bool>(g, {});
  const Operation step = Cond(
      up, [&] { return v.AssignAdd(Constant(g, 1.f)); },
      [&] { return v.AssignSub(Constant(g, 10.f)); });
  Session session(g);
  session.Run(InitVariables(g));
  session.Run({{up, true}}, step);
  session.Run({{up, true}}, step);
  session.Run({{up, false}}, step);
  EXPECT_EQ(session.Run(v.Read())[0], -8);
}

TEST(Cond, BranchesOfDifferentShapes) {
  Graph g;
  const auto p = Placeholder<bool>(g, {});
  const auto a = Constant(g, Array<float>(Floats{1, 2, 3}));
  const auto b = Constant(g, Array<float>(Floats{4, 5}));
  const auto y = Cond(
      p, [&] { return -a; }, [&] { return -b; });
  EXPECT_EQ(y.shape(), (Shape{-1}));
  Session session(g);
  EXPECT_EQ(session.Run({{p, true}}, y).ToVector(), (Floats{-1, -2, -3}));
  EXPECT_EQ(session.Run({{p, false}}, y).ToVector(), (Floats{-4, -5}));
}

TEST(Cond, ABranchMayNotUseTheOther) {
  Graph g;
  const auto p = Placeholder<bool>(g, {});
  const auto x = Constant(g, 1.f);
  Output<float> inner;
  EXPECT_THROW(Cond(
                   p,
                   [&] {
                     inner = x + 1.f;
                     return inner;
                   },
                   [&] { return inner * 2.f; }),
               Error);
}

TEST(While, RepeatsItsBody) {
  Graph g;
  const auto n = Placeholder<int32_t>(g, {});
  const auto x = Placeholder<float>(g, {});
  const auto [i, sum] =
      While([&](Output<int32_t> i, Output<float>) { return i < n; },
            [&](Output<int32_t> i, Output<float> sum) { return std::tuple(i + 1, sum + x); },
            Constant<int32_t>(g, 0), Constant(g, 0.f));
  Session session(g);
  EXPECT_EQ(session.Run({{n, 10}, {x, 2.f}}, sum)[0], 20);
  EXPECT_EQ(session.Run({{n, 0}, {x, 2.f}}, sum)[0], 0);
  EXPECT_EQ(session.Run({{n, 3}, {x, 2.f}}, i)[0], 3);
}

TEST(While, ValuesMayGrow) {
  Graph g;
  const auto grown = While([](Output<float> v) { return Sum(v, {0}) < 100.f; },
                           [](Output<float> v) {
                             return Concat<float>({v, v}, 0);
                           },
                           Constant(g, Array<float>(Floats{1, 2})));
  EXPECT_EQ(grown.shape(), (Shape{-1}));
  EXPECT_EQ(Session(g).Run(grown).size(), 128);
}

TEST(While, HasEffectsInOrderAndNests) {
  Graph g;
  Variable<float> v(g, Array<float>(1.f), "v");
  const auto one = Constant(g, 1.f);
  const auto end = While([](Output<int32_t> i) { return i < 3; },
                         [&](Output<int32_t> i) {
                           While([](Output<int32_t> k) { return k < 2; },
                                 [&](Output<int32_t> k) {
                                   v.AssignAdd(one);
                                   return k + 1;
                                 },
                                 Constant<int32_t>(g, 0));
                           v.Assign(v.Read() * 10.f);
                           return i + 1;
                         },
                         Constant<int32_t>(g, 0));
  Session session(g);
  session.Run(InitVariables(g));
  session.Run(Operation(end));
  EXPECT_EQ(session.Run(v.Read())[0], 3220);  // ((1 + 2) * 10 + 2) * 10 + 2) * 10
}

TEST(Fold, GoesOverRows) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, 2});
  const auto y = Fold([](Output<float> a, Output<float> row) { return a * 2.f + row; }, x,
                      Constant(g, Array<float>(Floats{1, 1})));
  Session session(g);
  EXPECT_EQ(session.Run({{x, Array<float>({2, 2}, {1, 2, 3, 4})}}, y).ToVector(), (Floats{9, 12}));
  EXPECT_EQ(session.Run({{x, Array<float>({0, 2}, {})}}, y).ToVector(), (Floats{1, 1}));
  EXPECT_THROW(Fold([](Output<float> a, Output<float> b) { return a + b; }, Constant(g, 1.f),
                    Constant(g, 1.f)),
               Error);
}

TEST(Map, StacksWhatTheLambdaMakesOfRows) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, 2});
  const auto scale = Constant(g, 10.f);
  const auto y = Map([&](Output<float> row) { return Sum(row, {0}) * scale; }, x);
  Session session(g);
  EXPECT_EQ(session.Run({{x, Array<float>({3, 2}, {1, 2, 3, 4, 5, 6})}}, y).ToVector(),
            (Floats{30, 70, 110}));
  EXPECT_EQ(session.Run({{x, Array<float>({0, 2}, {})}}, y).size(), 0);
  // To another type, of a known number of rows.
  const auto z = Map([](Output<float> v) { return Cast<int32_t>(v); },
                     Constant(g, Array<float>(Floats{1.5f, 2.5f})));
  EXPECT_EQ(z.shape(), (Shape{2}));
  EXPECT_EQ(session.Run(z).ToVector(), (std::vector<int32_t>{1, 2}));
}

TEST(Scan, KeepsWhatFoldGoesThrough) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1});
  const auto y =
      Scan([](Output<float> sum, Output<float> v) { return sum + v; }, x, Constant(g, 100.f));
  Session session(g);
  EXPECT_EQ(session.Run({{x, Floats{1, 2, 3}}}, y).ToVector(), (Floats{101, 103, 106}));
}

// A list that is set element by element is not copied each time: this would be minutes.
TEST(Map, OfManyRows) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1});
  const auto y = Map([](Output<float> v) { return v + 1.f; }, x);
  Session session(g);
  const auto out = session.Run({{x, Floats(50'000, 1.f)}}, y);
  EXPECT_EQ(out.size(), 50'000);
  EXPECT_EQ(out[49'999], 2);
}

}  // namespace
}  // namespace penstock
