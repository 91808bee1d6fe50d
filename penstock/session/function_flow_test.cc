#include <gtest/gtest.h>

#include <chrono>

#include "penstock/session/testing/function_program.h"

namespace penstock {
namespace {

class FlowTest : public FunctionTest {};
INSTANTIATE_TEST_SUITE_P(Function, FlowTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Inlined" : "Called"; });

TEST_P(FlowTest, IfRunsOneBranch) {
  Counter p;
  AddFunction(p.graph, MakeFunction("nothing", {{"v", DType::kResource}}, {}, {}));
  auto branch = [&](const Tensor& cond) {
    return p.Add({.op = "If",
                  .inputs = {p.Const(cond), p.v},
                  .attrs = {{"then_branch", FunctionName{"written", {}}},
                            {"else_branch", FunctionName{"nothing", {}}},
                            {"Tout", AttrValue::EmptyList{}}}});
  };
  ASSERT_EQ(p.Run({}, {branch(Tensor::Scalar(false))}).status().ToString(), "OK");
  EXPECT_EQ(p.Read(), "float [] {1}");
  ASSERT_TRUE(p.Run({}, {branch(Tensor::Scalar(true))}).ok());
  EXPECT_EQ(p.Read(), "float [] {30}");
  ASSERT_TRUE(p.Run({}, {branch(Tensor::Scalar(std::string()))}).ok());
  EXPECT_EQ(p.Read(), "float [] {30}");
  ASSERT_TRUE(p.Run({}, {branch(Tensor(DType::kFloat, Shape{2}))}).ok());
  EXPECT_EQ(p.Read(), "float [] {320}");
}

TEST_P(FlowTest, CallsBelongToTheirBranch) {
  Counter p;
  AddFunction(p.graph, MakeFunction("seven", {{"x"}}, {{"y", DType::kFloat, "c:output:0"}},
                                    {ConstNode("c", Tensor::Scalar(7.f))}));
  for (const bool taken : {true, false}) {
    const OutputRef x = p.Const(Tensor::Scalar(5.f));
    const NodeId flow = p.Add({.op = "Switch", .inputs = {x, p.Const(Tensor::Scalar(taken))}});
    const NodeId yes = p.Add({.op = "Identity", .inputs = {{flow, 1}}});
    const NodeId seven = p.Call("PartitionedCall", {{flow, 0}}, "seven");
    const NodeId call = p.Call("StatefulPartitionedCall", {p.v}, "written", {});
    p.graph.AddControlInput(call, yes);
    const NodeId both = p.Add({.op = "Merge", .inputs = {{seven, 0}, {yes, 0}}});
    const NodeId after = p.Add({.op = "Identity", .inputs = {{both, 0}}});
    Result<Tensors> out = p.Run({{after, 0}}, {call});
    ASSERT_TRUE(out.ok()) << out.status().ToString();
    EXPECT_EQ((*out)[0].scalar<float>(), taken ? 5 : 7);
    EXPECT_EQ(p.Read(), "float [] {30}");  // by the branch that was taken, the first time
  }
}

TEST_P(FlowTest, CaseTakesTheLastWhenThereIsNone) {
  Program p;
  AddFunction(p.graph, AddOne());
  AddFunction(p.graph, MakeFunction("same", {{"x"}}, {{"y", DType::kFloat, "x"}}, {}));
  for (const int32_t index : {0, 1, 7, -1}) {
    const NodeId node =
        p.Add({.op = "StatelessCase",
               .inputs = {p.Const(Tensor::Scalar(index)), p.Const(Tensor::Scalar(5.f))},
               .attrs = {{"branches", std::vector<FunctionName>{{"add_one", {}}, {"same", {}}}},
                         {"Tout", std::vector<DType>{DType::kFloat}}}});
    EXPECT_EQ(p.Value({node, 0}), index == 0 ? "float [] {6}" : "float [] {5}");
  }
}

TEST_P(FlowTest, WhileCounts) {
  Program p;
  AddCounter(p.graph, 100'000);
  const OutputRef zero = p.Const(Tensor::Scalar(0));
  EXPECT_EQ(p.Value({p.While({zero}, "below", "next"), 0}), "int32 [] {100000}");
  // No iteration.
  const OutputRef many = p.Const(Tensor::Scalar(200'000));
  EXPECT_EQ(p.Value({p.While({many}, "below", "next"), 0}), "int32 [] {200000}");
  // The constant that the loop began with is as it was.
  EXPECT_EQ(p.Value(zero), "int32 [] {0}");
}

TEST_P(FlowTest, WhileUpdatesItsValuesInPlace) {
  Program p;
  constexpr int64_t kElements = 1 << 20;
  AddCounter(p.graph, 50);
  AddFunction(p.graph, AddOne());
  const std::vector<TestArg> both{{"i", DType::kInt32}, {"x"}};
  AddFunction(p.graph, MakeFunction("test", both, {{"r", DType::kBool, "b:r:0"}},
                                    {MakeNode("b", "below", {"i"})}));
  AddFunction(
      p.graph,
      MakeFunction("step", both, {{"i2", DType::kInt32, "n:r:0"}, {"x2", DType::kFloat, "a:y:0"}},
                   {MakeNode("n", "next", {"i"}), MakeNode("a", "add_one", {"x"})}));
  const OutputRef x{p.Add({.op = "Placeholder", .attrs = {{"dtype", DType::kFloat}}}), 0};
  const NodeId loop = p.While({p.Const(Tensor::Scalar(0)), x}, "test", "step");
  LocalSessionOptions options;
  options.device = MakeCpuDevice();
  if (!inlines) options.disabled_passes = {"inline"};
  p.session = MakeLocalSession(p.graph, options);
  const Tensor zeros = [] {
    Tensor made(DType::kFloat, Shape{kElements});
    for (float& value : made.mutable_values<float>()) value = 0;
    return made;
  }();
  Result<Tensors> out = p.session->Run({{x}, {{loop, 1}}, {}}, {&zeros, 1}, {}, nullptr);
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ((*out)[0].data<float>()[kElements - 1], 50);
  EXPECT_EQ(zeros.data<float>()[0], 0);
  EXPECT_LT(options.device->allocator()->stats().peak_bytes, kElements * 4 * 3 / 2);
}

TEST_P(FlowTest, ForCounts) {
  Program p;
  AddFunction(p.graph,
              MakeFunction("sum", {{"i", DType::kInt32}, {"s", DType::kInt32}},
                           {{"r", DType::kInt32, "add:z:0"}},
                           {MakeNode("add", "AddV2", {"i", "s"}, {{"T", DType::kInt32}})}));
  auto loop = [&](int32_t start, int32_t limit, int32_t delta) {
    return OutputRef{
        p.Add({.op = "For",
               .inputs = {p.Const(Tensor::Scalar(start)), p.Const(Tensor::Scalar(limit)),
                          p.Const(Tensor::Scalar(delta)), p.Const(Tensor::Scalar(100))},
               .attrs = {{"body", FunctionName{"sum", {}}}}}),
        0};
  };
  EXPECT_EQ(p.Value(loop(0, 5, 1)), "int32 [] {110}");
  EXPECT_EQ(p.Value(loop(5, 0, -2)), "int32 [] {109}");
  EXPECT_EQ(p.Value(loop(3, 3, 0)), "int32 [] {100}");
  EXPECT_EQ(p.Value(loop(INT32_MAX - 1, INT32_MAX, 2)), "int32 [] {-2147483550}");
  EXPECT_EQ(Contains(p.Run({loop(0, 5, -1)}), Code::kInvalidArgument,
                     "Invalid start/limit/delta: 0 5 -1"),
            "");
}

TEST_P(FlowTest, BranchesInLoopsInFunctions) {
  Program p;
  AddCounter(p.graph, 7);
  const AttrMap t{{"T", DType::kInt32}};
  auto add = [&](const std::string& name, int32_t k) {
    AddFunction(p.graph, MakeFunction(name, {{"s", DType::kInt32}}, {{"r", DType::kInt32, "a:z:0"}},
                                      {ConstNode("k", Tensor::Scalar(k)),
                                       MakeNode("a", "AddV2", {"s", "k:output:0"}, t)}));
  };
  add("ten", 10);
  add("one", 1);
  const std::vector<TestArg> both{{"i", DType::kInt32}, {"s", DType::kInt32}};
  const std::vector<DType> int32{DType::kInt32};
  AddFunction(p.graph, MakeFunction("test", both, {{"r", DType::kBool, "b:r:0"}},
                                    {MakeNode("b", "below", {"i"})}));
  AddFunction(p.graph,
              MakeFunction("step", both,
                           {{"i2", DType::kInt32, "n:r:0"}, {"s2", DType::kInt32, "f:output:0"}},
                           {MakeNode("n", "next", {"i"}), ConstNode("two", Tensor::Scalar(2)),
                            MakeNode("odd", "FloorMod", {"i", "two:output:0"}, t),
                            MakeNode("f", "StatelessIf", {"odd:z:0", "s"},
                                     {{"Tcond", DType::kInt32},
                                      {"Tin", int32},
                                      {"Tout", int32},
                                      {"then_branch", FunctionName{"one", {}}},
                                      {"else_branch", FunctionName{"ten", {}}},
                                      {"output_shapes", std::vector<Shape>{Shape{}}}})}));
  AddFunction(p.graph,
              MakeFunction("all", {{"i", DType::kInt32}}, {{"r", DType::kInt32, "w:output:1"}},
                           {MakeNode("w", "While", {"i", "i"},
                                     {{"T", std::vector<DType>{DType::kInt32, DType::kInt32}},
                                      {"cond", FunctionName{"test", {}}},
                                      {"body", FunctionName{"step", {}}}})}));
  const NodeId call = p.Call("StatefulPartitionedCall", {p.Const(Tensor::Scalar(0))}, "all", int32);
  EXPECT_EQ(p.Value({call, 0}), "int32 [] {43}");
}

TEST_P(FlowTest, PromisedShapesAreHeld) {
  Program p;
  AddFunction(p.graph, MakeFunction("same", {{"x"}}, {{"y", DType::kFloat, "x"}}, {}));
  const OutputRef x = p.Const(Tensor::FromValues<float>(Shape{2}, {1, 2}));
  auto with = [&](const Shape& shape) {
    const NodeId node = p.Add({.op = "StatelessIf",
                               .inputs = {p.Const(Tensor::Scalar(true)), x},
                               .attrs = {{"Tout", std::vector<DType>{DType::kFloat}},
                                         {"then_branch", FunctionName{"same", {}}},
                                         {"else_branch", FunctionName{"same", {}}},
                                         {"output_shapes", std::vector<Shape>{shape}}}});
    return OutputRef{p.Add({.op = "Neg", .inputs = {{node, 0}}}), 0};
  };
  EXPECT_EQ(p.Value(with(Shape{2})), "float [2] {-1, -2}");
  EXPECT_EQ(Contains(p.Run({with(Shape{5})}), Code::kInvalidArgument,
                     "output 0 must have shape [5], got [2]"),
            "");
}

TEST_P(FlowTest, AnEndlessLoopIsEndedByItsDeadline) {
  Program p;
  AddFunction(p.graph, MakeFunction("always", {{"x"}}, {{"r", DType::kBool, "t:output:0"}},
                                    {ConstNode("t", Tensor::Scalar(true))}));
  AddFunction(p.graph, AddOne());
  const OutputRef x = p.Const(Tensor::Scalar(1.f));
  RunOptions options;
  options.timeout = std::chrono::milliseconds(30);
  const Result<Tensors> out = p.Run({{p.While({x}, "always", "add_one"), 0}}, {}, options);
  EXPECT_EQ(Contains(out, Code::kDeadlineExceeded, "{{node loop}}"), "");
}

}  // namespace
}  // namespace penstock
