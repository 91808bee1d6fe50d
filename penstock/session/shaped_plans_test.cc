#include <gtest/gtest.h>

#include <thread>

#include "penstock/session/testing/function_program.h"

namespace penstock {
namespace {

// A function y = x * x + one([3]), called on what is fed: it takes scalars and vectors of 3 alone.
class ShapedPlansTest : public ::testing::Test {
 protected:
  void SetUp() override {
    inlines = false;
    AddFunction(p_.graph,
                MakeFunction("f", {{"x"}}, {{"y", DType::kFloat, "add:z:0"}},
                             {ConstNode("ones", Tensor::FromValues<float>(Shape{3}, {1, 1, 1})),
                              MakeNode("square", "Mul", {"x", "x"}, {{"T", DType::kFloat}}),
                              MakeNode("add", "AddV2", {"square:z:0", "ones:output:0"},
                                       {{"T", DType::kFloat}})}));
    x_ = {p_.Add({.op = "Placeholder", .attrs = {{"dtype", DType::kFloat}}}), 0};
    y_ = {p_.Call("PartitionedCall", {x_}, "f"), 0};
    session_ = MakeSession(p_.graph);
  }
  std::string Call(const Tensor& x) const {
    Result<Tensors> out = session_->Run({{x_}, {y_}, {}}, {&x, 1}, {}, nullptr);
    return out.ok() ? (*out)[0].ToString() : out.status().ToString();
  }

  Program p_;
  OutputRef x_, y_;
  std::unique_ptr<SessionBackend> session_;
};

const Tensor kThree = Tensor::FromValues<float>(Shape{3}, {1, 2, 3});

TEST_F(ShapedPlansTest, ShapesMayChangeAtAnyTime) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 7; ++i) EXPECT_EQ(Call(kThree), "float [3] {2, 5, 10}");
    for (int i = 0; i < 7; ++i) EXPECT_EQ(Call(Tensor::Scalar(2.f)), "float [3] {5, 5, 5}");
    for (int rows = 1; rows < 9; ++rows) {
      const Tensor matrix(DType::kFloat, Shape{rows, 3});
      for (int i = 0; i < 5; ++i)
        EXPECT_EQ(Call(matrix).find("float [" + std::to_string(rows)), 0u);
    }
  }
}

TEST_F(ShapedPlansTest, ShapesThatDoNotFitFailEachTimeAndNameTheNode) {
  for (int i = 0; i < 9; ++i) {
    const std::string said = Call(Tensor::FromValues<float>(Shape{2}, {1, 2}));
    EXPECT_NE(said.find("INVALID_ARGUMENT"), std::string::npos) << said;
    EXPECT_NE(said.find("add"), std::string::npos) << said;
  }
  EXPECT_EQ(Call(kThree), "float [3] {2, 5, 10}");
}

TEST_F(ShapedPlansTest, ConcurrentCallsOfManyShapes) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 100; ++i) {
        if ((i / 10 + t) % 2 == 0) {
          ASSERT_EQ(Call(kThree), "float [3] {2, 5, 10}");
        } else {
          ASSERT_EQ(Call(Tensor::Scalar(2.f)), "float [3] {5, 5, 5}");
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace penstock
