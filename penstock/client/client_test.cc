#include <gtest/gtest.h>

#include <thread>

#include "penstock/penstock.h"

namespace penstock {
namespace {

TEST(Client, TypedStepsReadAsWritten) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, 2}, "x");
  const auto y = 2.f * x + 1.f;
  Session session(g);
  const auto [value, back] = session.Run({{x, Array<float>({1, 2}, {3, 4})}}, Fetch(y, x));
  EXPECT_EQ(value.ToVector(), (std::vector<float>{7, 9}));
  EXPECT_EQ(back(0, 1), 4);
  static_assert(std::is_same_v<decltype((y < x)), Output<bool>>);
}

TEST(Client, AScalarFetchIsItsValue) {
  Graph g;
  const auto x = Placeholder<double>(g, Shape{});
  const double doubled = Session(g).Run({{x, 21.0}}, x + x);
  EXPECT_EQ(doubled, 42);
}

TEST(Client, VariablesKeepTheirValueBetweenSteps) {
  Graph g;
  Variable<float> v(g, Array<float>({1, 2}, {1, 2}), "v");
  const auto grow = v.AssignAdd(Constant(g, Array<float>({1, 2}, {10, 20})));
  const auto read = v.Read();
  Session session(g);
  EXPECT_THROW(session.Run(read), Error);
  session.Run(InitVariables(g));
  session.Run(grow);
  session.Run(grow);
  EXPECT_EQ(session.Run(read).ToVector(), (std::vector<float>{21, 42}));
  // Another session has state of its own.
  Session other(g);
  EXPECT_THROW(other.Run(read), Error);
}

TEST(Client, ErrorsCiteTheUsersLine) {
  Graph g;
  const auto a = Placeholder<float>(g, {2, 3}, "a");
  const int line_of_a = __LINE__ - 1;
  const auto b = Placeholder<float>(g, {4, 5}, "b");
  try {
    (void)(a + b);
    FAIL() << "shapes [2,3] and [4,5] do not broadcast";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_NE(text.find("[2,3] vs [4,5]"), std::string::npos) << text;
    EXPECT_NE(text.find("client_test.cc:" + std::to_string(line_of_a)), std::string::npos) << text;
    EXPECT_NE(text.find("client_test.cc:" + std::to_string(line_of_a + 2)), std::string::npos)
        << text;
  }
  EXPECT_EQ(g.FindNode("AddV2"), kNoNode);  // nothing was left behind
}

TEST(Client, BuildScopesNameAndOrderNodes) {
  Graph g;
  {
    BuildScope outer(g, Named("encoder"));
    BuildScope inner(g, Named("layer"));
    EXPECT_EQ(Constant(g, 1.f).name(), "encoder/layer/Const:0");
  }
  {
    BuildScope outer(g, Named("encoder"));
    EXPECT_EQ(Constant(g, 1.f).name(), "encoder_1/Const:0");
  }
  Variable<float> v(g, Array<float>(1.f), "v");
  const auto set = v.Assign(Constant(g, 5.f));
  Output<float> after;
  {
    BuildScope wait(g, After({set}));
    after = v.Read();
  }
  {
    BuildScope device(g, OnDevice("/job:ps"));
    BuildScope task(g, OnDevice("/task:1"));
    EXPECT_EQ(g.node(Constant(g, 1.f).ref().node).device, "/job:ps/task:1");
  }
  Session session(g);
  session.Run(InitVariables(g));
  EXPECT_EQ(static_cast<float>(session.Run(after)), 5);
}

TEST(Client, GraphsKnownAtRunTimeRunByName) {
  Graph g;
  const auto x = Placeholder<float>(g, Shape{}, "x");
  const auto y = x * x;
  Session session(g);
  const auto out = session.Run({{"x:0", Tensor::Scalar(3.f)}}, {y.name()});
  EXPECT_EQ(out[0].scalar<float>(), 9);
  EXPECT_THROW(session.Run({{"x:0", Tensor::Scalar(3.f)}}, {"nothing:0"}), Error);
  EXPECT_THROW(session.Run({{"x", Tensor::Scalar(3.0)}}, {y.name()}), Error);
}

TEST(Client, StepsRunInPieces) {
  Graph g;
  const auto x = Placeholder<float>(g, Shape{}, "x");
  const auto y = Placeholder<float>(g, Shape{}, "y");
  const auto doubled = x + x;
  const auto product = doubled * y;
  Session session(g);
  {
    PartialStep step = session.StartPartial({x.ref(), y.ref()}, {doubled.ref(), product.ref()});
    EXPECT_THROW(step.Run({}, product), Error);
    const float first = step.Run({{x, 3.f}}, doubled);
    EXPECT_EQ(first, 6);
    EXPECT_NE(session.DebugString().find("feeds to come: y:0"), std::string::npos)
        << session.DebugString();
    const auto [second] = step.Run({{y, first}}, Fetch(product));
    EXPECT_EQ(static_cast<float>(second), 36);
    EXPECT_THROW(step.Run({{x, 3.f}}), Error);
  }
  {
    PartialStep left = session.StartPartial({x.ref(), y.ref()}, {product.ref()}, {doubled});
    left.Run({{x, 1.f}});
  }
  EXPECT_EQ(session.DebugString().find("feeds to come"), std::string::npos);
}

TEST(ClientConcurrency, StepsMeetInVariables) {
  Graph g;
  Variable<int64_t> counter(g, Array<int64_t>(0), "counter");
  const auto increment = counter.AssignAdd(Constant<int64_t>(g, 1));
  const auto read = counter.Read();
  Session session(g);
  session.Run(InitVariables(g));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) session.Run(increment);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(static_cast<int64_t>(session.Run(read)), 1000);
}

}  // namespace
}  // namespace penstock
