#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "penstock/session/testing/function_program.h"

namespace penstock {
namespace {

class CallTest : public FunctionTest {};
INSTANTIATE_TEST_SUITE_P(Function, CallTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Inlined" : "Called"; });

TEST_P(CallTest, IsCalled) {
  Program p;
  AddFunction(p.graph, AddOne());
  const OutputRef x = p.Const(Tensor::FromValues<float>(Shape{2}, {1, 2}));
  OutputRef y{p.Call("PartitionedCall", {x}, "add_one"), 0};
  for (int i = 0; i < 3; ++i) y = {p.Call("StatefulPartitionedCall", {y}, "add_one"), 0};
  EXPECT_EQ(p.Value(y), "float [2] {5, 6}");
}

TEST_P(CallTest, NameAsOpIsACall) {
  Program p;
  AddFunction(p.graph, AddOne());
  const OutputRef x = p.Const(Tensor::Scalar(1.f));
  const NodeId call = p.Add({.op = "add_one", .inputs = {x}});
  EXPECT_EQ(p.graph.node(call).op_name(), "PartitionedCall");
  EXPECT_EQ(p.graph.node(call).name, "add_one");
  AddFunction(p.graph,
              MakeFunction("twice", {{"x"}}, {{"y", DType::kFloat, "b:y:0"}},
                           {MakeNode("b", "add_one", {"a:y:0"}), MakeNode("a", "add_one", {"x"})}));
  EXPECT_EQ(p.Value({p.Add({.op = "twice", .inputs = {{call, 0}}}), 0}), "float [] {4}");
}

TEST_P(CallTest, AttributesAreSubstituted) {
  Program p;
  FunctionDef f =
      MakeFunction("twice", {{"x"}}, {{"y", DType::kFloat, "add:z:0"}},
                   {MakeNode("add", "AddV2", {"x", "x"}, {{"T", AttrValue::Placeholder{"T"}}})});
  for (ArgDef* arg : {&f.signature.inputs[0], &f.signature.outputs[0]}) {
    arg->dtype = DType::kInvalid;
    arg->type_attr = "T";
  }
  AttrDef& attr = f.signature.attrs.emplace_back();
  attr.name = "T";
  attr.kind = "type";
  AddFunction(p.graph, f);
  const NodeId a = p.Add({.op = "twice", .inputs = {p.Const(Tensor::Scalar(2.f))}});
  const NodeId b = p.Add({.op = "twice", .inputs = {p.Const(Tensor::Scalar(3))}});
  Result<Tensors> out = p.Run({{a, 0}, {b, 0}});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ((*out)[0].ToString(), "float [] {4}");
  EXPECT_EQ((*out)[1].ToString(), "int32 [] {6}");
}

TEST_P(CallTest, WrongCallsNameWhatWasExpected) {
  Program p;
  AddFunction(p.graph, AddOne());
  const OutputRef x = p.Const(Tensor::Scalar(1.f));
  const OutputRef i = p.Const(Tensor::Scalar(1));
  EXPECT_EQ(Contains(p.Run({{p.Call("PartitionedCall", {x}, "missing"), 0}}),
                     Code::kInvalidArgument, "f: function missing is not in the library"),
            "");
  EXPECT_EQ(Contains(p.Run({{p.Call("PartitionedCall", {i}, "add_one"), 0}}),
                     Code::kInvalidArgument, "add_one, which takes"),
            "");
  EXPECT_EQ(Contains(p.Run({{p.Call("PartitionedCall", {x, x}, "add_one"), 0}}),
                     Code::kInvalidArgument, "add_one, which takes"),
            "");
  EXPECT_EQ(Contains(p.Run({{p.Call("PartitionedCall", {x}, "add_one", {DType::kInt32}), 0}}),
                     Code::kInvalidArgument, "add_one, which returns"),
            "");
  AddCounter(p.graph, 3);
  EXPECT_EQ(Contains(p.Run({{p.While({x}, "below", "next"), 0}}), Code::kInvalidArgument,
                     "cond: the node passes"),
            "");
  EXPECT_EQ(Contains(p.Run({{p.While({i}, "below", "below"), 0}}), Code::kInvalidArgument,
                     "body: the node expects"),
            "");
  // And added before it is used, a function is there.
  AddFunction(p.graph, MakeFunction("missing", {{"x"}}, {{"y", DType::kFloat, "x"}}, {}));
  EXPECT_EQ(p.Value({p.Call("PartitionedCall", {x}, "missing"), 0}), "float [] {1}");
}

TEST_P(CallTest, FunctionAddedAfterItsCallFailed) {
  Program p;
  const OutputRef x = p.Const(Tensor::Scalar(1.f));
  const OutputRef y{p.Call("PartitionedCall", {x}, "late"), 0};
  EXPECT_FALSE(p.Run({y}).ok());
  AddFunction(p.graph, MakeFunction("late", {{"x"}}, {{"y", DType::kFloat, "x"}}, {}));
  EXPECT_EQ(p.Value(y), "float [] {1}");
}

TEST_P(CallTest, SelfCallEndsWithAnError) {
  Program p;
  AddFunction(p.graph, MakeFunction("f", {{"x"}}, {{"y", DType::kFloat, "again:output:0"}},
                                    {MakeNode("again", "PartitionedCall", {"x"},
                                              {{"f", FunctionName{"f", {}}},
                                               {"Tin", std::vector<DType>{DType::kFloat}},
                                               {"Tout", std::vector<DType>{DType::kFloat}}})}));
  AddFunction(p.graph, MakeFunction("g", {{"x"}}, {{"y", DType::kFloat, "a:y:0"}},
                                    {MakeNode("a", "h", {"x"})}));
  AddFunction(p.graph, MakeFunction("h", {{"x"}}, {{"y", DType::kFloat, "a:y:0"}},
                                    {MakeNode("a", "g", {"x"})}));
  const OutputRef x = p.Const(Tensor::Scalar(1.f));
  EXPECT_EQ(Contains(p.Run({{p.Call("PartitionedCall", {x}, "f"), 0}}), Code::kResourceExhausted,
                     "function f is called inside more than 200 other calls"),
            "");
  EXPECT_EQ(Contains(p.Run({{p.Call("PartitionedCall", {x}, "g"), 0}}), Code::kResourceExhausted,
                     "more than 200 other calls"),
            "");
}

TEST_P(CallTest, ErrorsInsideNameBothNodes) {
  Program p;
  AddFunction(p.graph, MakeFunction("check", {{"x"}}, {{"y", DType::kFloat, "inner:output:0"}},
                                    {ConstNode("shape", Tensor::FromValues<int32_t>(Shape{1}, {7})),
                                     MakeNode("inner", "Reshape", {"x", "shape:output:0"},
                                              {{"T", DType::kFloat}, {"Tshape", DType::kInt32}})}));
  const OutputRef x = p.Const(Tensor::Scalar(1.f));
  const NodeId call = p.Call("PartitionedCall", {x}, "check");
  const Status status = p.Run({{call, 0}}).status();
  if (inlines) {
    EXPECT_NE(status.message().find("{{node call/inner}}"), std::string::npos) << status.ToString();
    return;
  }
  EXPECT_NE(status.message().find("{{node inner}}"), std::string::npos) << status.ToString();
  EXPECT_NE(status.message().find("{{node call}}"), std::string::npos) << status.ToString();
}

TEST_P(CallTest, EffectsHappenInOrderThoughNothingIsReturned) {
  for (const char* name : {"written", "ordered"}) {
    for (const char* op : {"StatefulPartitionedCall", "PartitionedCall"}) {
      Counter p;
      const NodeId call = p.Call(op, {p.v}, name, {});
      ASSERT_EQ(p.Run({}, {call}).status().ToString(), "OK");
      EXPECT_EQ(p.Read(), "float [] {30}") << name;
      ASSERT_TRUE(p.Run({}, {call}).ok());
      EXPECT_EQ(p.Read(), "float [] {320}") << name;
    }
  }
}

// If in While in a function: adds 10 to even i and 1 to odd ones.
TEST_P(CallTest, ConcurrentStepsCallTheSameFunction) {
  Program p;
  AddCounter(p.graph, 500);
  AddFunction(p.graph, AddOne());
  const OutputRef x = p.Const(Tensor::Scalar(1.f));
  OutputRef y = x;
  for (int i = 0; i < 20; ++i) y = {p.Call("StatefulPartitionedCall", {y}, "add_one"), 0};
  const OutputRef n{p.While({p.Const(Tensor::Scalar(0))}, "below", "next"), 0};
  p.session = MakeSession(p.graph);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        Result<Tensors> out = p.session->Run({{}, {y, n}, {}}, {}, {}, nullptr);
        if (!out.ok() || (*out)[0].scalar<float>() != 21 || (*out)[1].scalar<int32_t>() != 500)
          ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace penstock
