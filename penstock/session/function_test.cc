#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "penstock/device/device.h"
#include "penstock/graph/scope.h"
#include "penstock/graph/testing/functions.h"
#include "penstock/session/session.h"

namespace penstock {
namespace {

using Tensors = std::vector<Tensor>;

// Whether the calls of the test at hand are inlined.
bool inlines = false;

class FunctionTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { inlines = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Function, FunctionTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Inlined" : "Called"; });

std::unique_ptr<SessionBackend> MakeSession(const Graph& graph) {
  LocalSessionOptions options;
  options.threads = 2;
  if (!inlines) options.disabled_passes = {"inline"};
  return MakeLocalSession(graph, options);
}

// A graph with functions and a session.
struct Program {
  Graph graph;
  std::unique_ptr<SessionBackend> session;

  NodeId Add(NodeSpec spec) {
    Result<NodeId> node = graph.AddNode(std::move(spec));
    EXPECT_TRUE(node.ok()) << node.status().ToString();
    return node.ok() ? *node : kNoNode;
  }
  OutputRef Const(const Tensor& value) {
    return {Add({.op = "Const", .attrs = {{"value", value}, {"dtype", value.dtype()}}}), 0};
  }
  NodeId Call(const std::string& op, const std::vector<OutputRef>& inputs, const std::string& f,
              const std::vector<DType>& outputs = {DType::kFloat}) {
    AttrMap attrs{{"f", FunctionName{f, {}}}, {"Tout", outputs}};
    if (outputs.empty()) attrs[1].second = AttrValue::EmptyList{};
    return Add({.op = op, .name = "call", .inputs = inputs, .attrs = attrs});
  }
  NodeId While(const std::vector<OutputRef>& inputs, const std::string& cond,
               const std::string& body) {
    return Add({.op = "While",
                .name = "loop",
                .inputs = inputs,
                .attrs = {{"cond", FunctionName{cond, {}}}, {"body", FunctionName{body, {}}}}});
  }
  Result<Tensors> Run(const std::vector<OutputRef>& fetches,
                      const std::vector<NodeId>& targets = {}, const RunOptions& options = {}) {
    if (session == nullptr) session = MakeSession(graph);
    return session->Run({{}, fetches, targets}, {}, options, nullptr);
  }
  // The only fetch as text, or the error.
  std::string Value(OutputRef fetch) {
    Result<Tensors> out = Run({fetch});
    return out.ok() ? (*out)[0].ToString() : out.status().ToString();
  }
};

Function AddOne() {
  return MakeFunction("add_one", {{"x"}}, {{"y", DType::kFloat, "add:z:0"}},
                      {ConstNode("one", Tensor::Scalar(1.f)),
                       MakeNode("add", "AddV2", {"x", "one:output:0"}, {{"T", DType::kFloat}})});
}

// cond: i < limit; body: i + 1, both of int32.
void AddCounter(Graph& graph, int32_t limit) {
  AddFunction(
      graph,
      MakeFunction("below", {{"i", DType::kInt32}}, {{"r", DType::kBool, "less:z:0"}},
                   {ConstNode("limit", Tensor::Scalar(limit)),
                    MakeNode("less", "Less", {"i", "limit:output:0"}, {{"T", DType::kInt32}})}));
  AddFunction(
      graph,
      MakeFunction("next", {{"i", DType::kInt32}}, {{"r", DType::kInt32, "add:z:0"}},
                   {ConstNode("one", Tensor::Scalar(1)),
                    MakeNode("add", "AddV2", {"i", "one:output:0"}, {{"T", DType::kInt32}})}));
}

std::string Contains(const Result<Tensors>& result, Code code, std::string_view part) {
  if (result.ok()) return "succeeded";
  if (result.status().code() != code) return result.status().ToString();
  return result.status().message().find(part) == std::string::npos ? result.status().ToString()
                                                                   : "";
}

TEST_P(FunctionTest, IsCalled) {
  Program p;
  AddFunction(p.graph, AddOne());
  const OutputRef x = p.Const(Tensor::FromValues<float>(Shape{2}, {1, 2}));
  OutputRef y{p.Call("PartitionedCall", {x}, "add_one"), 0};
  for (int i = 0; i < 3; ++i) y = {p.Call("StatefulPartitionedCall", {y}, "add_one"), 0};
  EXPECT_EQ(p.Value(y), "float [2] {5, 6}");
}

TEST_P(FunctionTest, NameAsOpIsACall) {
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

TEST_P(FunctionTest, AttributesAreSubstituted) {
  Program p;
  Function f =
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

TEST_P(FunctionTest, WrongCallsNameWhatWasExpected) {
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

TEST_P(FunctionTest, FunctionAddedAfterItsCallFailed) {
  Program p;
  const OutputRef x = p.Const(Tensor::Scalar(1.f));
  const OutputRef y{p.Call("PartitionedCall", {x}, "late"), 0};
  EXPECT_FALSE(p.Run({y}).ok());
  AddFunction(p.graph, MakeFunction("late", {{"x"}}, {{"y", DType::kFloat, "x"}}, {}));
  EXPECT_EQ(p.Value(y), "float [] {1}");
}

TEST_P(FunctionTest, SelfCallEndsWithAnError) {
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

TEST_P(FunctionTest, ErrorsInsideNameBothNodes) {
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

// A variable v, and functions that add to and multiply it.
struct Counter : Program {
  OutputRef v;
  Counter() {
    v = {Add({.op = "VarHandleOp",
              .name = "v",
              .attrs = {{"dtype", DType::kFloat}, {"shape", Shape{}}, {"shared_name", "v"}}}),
         0};
    for (const bool ordered : {false, true}) {
      // v = (v + 2) * 10 in the order that is written, though no data says so.
      std::vector<FunctionNode> nodes{
          ConstNode("two", Tensor::Scalar(2.f)),
          ConstNode("ten", Tensor::Scalar(10.f)),
          MakeNode("add", "AssignAddVariableOp", {"v", "two:output:0"}, {{"dtype", DType::kFloat}}),
          MakeNode("read", "ReadVariableOp", {"v"}, {{"dtype", DType::kFloat}}),
          MakeNode("mul", "Mul", {"read:value:0", "ten:output:0"}, {{"T", DType::kFloat}}),
          MakeNode("set", "AssignVariableOp", {"v", "mul:z:0"}, {{"dtype", DType::kFloat}})};
      if (ordered) {
        nodes[3].inputs.push_back("^add");
        std::reverse(nodes.begin(), nodes.end());
      }
      AddFunction(
          graph, MakeFunction(
                     ordered ? "ordered" : "written", {{"v", DType::kResource}}, {}, nodes,
                     ordered ? std::vector<std::string>{"set"} : std::vector<std::string>{}, true));
    }
    const NodeId set = Add({.op = "AssignVariableOp", .inputs = {v, Const(Tensor::Scalar(1.f))}});
    EXPECT_TRUE(Run({}, {set}).ok());
  }
  std::string Read() {
    return Value(
        {Add({.op = "ReadVariableOp", .inputs = {v}, .attrs = {{"dtype", DType::kFloat}}}), 0});
  }
};

TEST_P(FunctionTest, EffectsHappenInOrderThoughNothingIsReturned) {
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

TEST_P(FunctionTest, IfRunsOneBranch) {
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

TEST_P(FunctionTest, CallsBelongToTheirBranch) {
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

TEST_P(FunctionTest, CaseTakesTheLastWhenThereIsNone) {
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

TEST_P(FunctionTest, WhileCounts) {
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

TEST_P(FunctionTest, WhileUpdatesItsValuesInPlace) {
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

TEST_P(FunctionTest, ForCounts) {
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

// If in While in a function: adds 10 to even i and 1 to odd ones.
TEST_P(FunctionTest, BranchesInLoopsInFunctions) {
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

TEST_P(FunctionTest, PromisedShapesAreHeld) {
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

TEST_P(FunctionTest, AnEndlessLoopIsEndedByItsDeadline) {
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

TEST_P(FunctionTest, ConcurrentStepsCallTheSameFunction) {
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
