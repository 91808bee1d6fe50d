#include <gtest/gtest.h>

#include "penstock/compile/passes.h"
#include "penstock/compile/testing/pass_text.h"
#include "penstock/graph/testing/functions.h"
#include "penstock/graph/text_graph.h"

namespace penstock {
namespace {

const AttrMap kFloat{{"T", DType::kFloat}};

// square(x) = x * x; bump(v, d): v += d and returns d; cube(x) = square(x) * x; self(x) = self(x).
void AddLibrary(Graph& graph, bool noinline) {
  FunctionDef square = MakeFunction("square", {{"x"}}, {{"y", DType::kFloat, "mul:z:0"}},
                                    {MakeNode("mul", "Mul", {"x", "x"}, kFloat)});
  if (noinline) square.attrs.emplace_back("_noinline", true);
  AddFunction(graph, square);
  AddFunction(graph, MakeFunction("cube", {{"x"}}, {{"y", DType::kFloat, "mul:z:0"}},
                                  {MakeNode("inner", "square", {"x"}),
                                   MakeNode("mul", "Mul", {"inner:y:0", "x"}, kFloat)}));
  AddFunction(
      graph,
      MakeFunction("bump", {{"v", DType::kResource}, {"d"}}, {{"y", DType::kFloat, "d"}},
                   {MakeNode("add", "AssignAddVariableOp", {"v", "d"}, {{"dtype", DType::kFloat}})},
                   {}, true));
  AddFunction(graph, MakeFunction("self", {{"x"}}, {{"y", DType::kFloat, "again:y:0"}},
                                  {MakeNode("again", "self", {"x"})}));
  AddFunction(graph, MakeFunction("state", {}, {{"y", DType::kResource, "v:resource:0"}},
                                  {MakeNode("v", "VarHandleOp", {},
                                            {{"dtype", DType::kFloat}, {"shape", Shape{}}})}));
  AddFunction(graph, MakeFunction("wrong", {{"x"}}, {{"y", DType::kFloat, "gone:y:0"}}, {}));
}

class Inline : public ::testing::Test {
 protected:
  void Start(std::string_view text, bool noinline = false) {
    AddLibrary(graph, noinline);
    const Status status = AddTextGraph(text, &graph);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  NodeId Call(const std::string& function, const std::string& name,
              const std::vector<std::string>& inputs, const std::vector<std::string>& after = {}) {
    NodeSpec spec{.op = function, .name = name};
    for (const std::string& input : inputs) spec.inputs.push_back({graph.FindNode(input), 0});
    for (const std::string& control : after) spec.control_inputs.push_back(graph.FindNode(control));
    Result<NodeId> id = graph.AddNode(std::move(spec));
    EXPECT_TRUE(id.ok()) << id.status().ToString();
    return id.ok() ? *id : kNoNode;
  }
  std::string Inlined() {
    const Status status = InlineCalls(graph);
    if (!status.ok()) return status.ToString();
    if (const Status verified = graph.Verify(); !verified.ok()) return verified.ToString();
    return Brief(graph);
  }

  Graph graph;
};

TEST_F(Inline, PutsBodiesInPlace) {
  Start("x = Placeholder(shape=[2])");
  Call("square", "a", {"x"});
  Call("square", "b", {"a"});
  ASSERT_TRUE(AddTextGraph("n = Neg(b)", &graph).ok());
  EXPECT_EQ(Inlined(),
            "x = Placeholder()\n"
            "n = Neg(b/mul)\n"
            "b/mul = Mul(a/mul, a/mul)\n"
            "a/mul = Mul(x, x)\n");
}

TEST_F(Inline, GoesIntoWhatWasInlined) {
  Start("x = Placeholder(shape=[2])");
  Call("cube", "c", {"x"});
  ASSERT_TRUE(AddTextGraph("n = Neg(c)", &graph).ok());
  EXPECT_EQ(Inlined(),
            "x = Placeholder()\n"
            "n = Neg(c/mul)\n"
            "c/mul = Mul(c/inner/mul, x)\n"
            "c/inner/mul = Mul(x, x)\n");
}

TEST_F(Inline, LeavesWhatItShould) {
  Start("x = Placeholder(shape=[2])", true);
  Call("square", "a", {"x"});
  Call("self", "s", {"x"});
  Call("state", "t", {});
  Call("wrong", "w", {"x"});
  EXPECT_EQ(Inlined(),
            "x = Placeholder()\n"
            "a = PartitionedCall(x)\n"
            "t = PartitionedCall()\n"
            "w = PartitionedCall(x)\n"
            "s/again = PartitionedCall(x)\n");
}

TEST_F(Inline, KeepsTheOrderOfEffects) {
  Start(R"(v = VarHandleOp(dtype=float, shape=[])
           d = Placeholder(shape=[])
           first = NoOp()
           read = ReadVariableOp(v, dtype=float))");
  Call("bump", "b", {"v", "d"}, {"first"});
  ASSERT_TRUE(AddTextGraph("n = Neg(b); last = ReadVariableOp(v, ^b, dtype=float)", &graph).ok());
  EXPECT_EQ(Inlined(),
            "v = VarHandleOp()\n"
            "d = Placeholder()\n"
            "first = NoOp()\n"
            "read = ReadVariableOp(v)\n"
            "n = Neg(b/result)\n"
            "last = ReadVariableOp(v, ^b)\n"
            "b/begin = NoOp(^v, ^d, ^first)\n"
            "b/add = AssignAddVariableOp(v, d, ^b/begin)\n"
            "b = NoOp(^d, ^b/begin, ^b/add)\n"
            "b/result = Identity(d, ^b)\n");
}

TEST_F(Inline, ATargetIsTheEndOfItsBody) {
  Start("v = VarHandleOp(dtype=float, shape=[]); d = Placeholder(shape=[])");
  const NodeId call = Call("bump", "b", {"v", "d"});
  graph.collections["targets"] = {call};
  ASSERT_TRUE(InlineCalls(graph).ok());
  ASSERT_EQ(graph.collections["targets"].size(), 1u);
  EXPECT_EQ(graph.node(graph.collections["targets"][0]).name, "b");
}

// Nothing of a body may run, or be there, where the call would not run.
TEST_F(Inline, InABranchConstantsBelongToIt) {
  AddFunction(
      graph, MakeFunction("one", {{"x"}}, {{"y", DType::kFloat, "add:z:0"}},
                          {ConstNode("c", Tensor::Scalar(1.f)), ConstNode("d", Tensor::Scalar(2.f)),
                           MakeNode("add", "AddV2", {"c:output:0", "d:output:0"}, kFloat)}));
  Start("x = Placeholder(shape=[2]); p = Placeholder(dtype=bool); s = Switch(x, p)");
  Call("one", "o", {"s"});
  ASSERT_TRUE(AddTextGraph("n = Neg(o)", &graph).ok());
  EXPECT_EQ(Inlined(),
            "x = Placeholder()\n"
            "p = Placeholder()\n"
            "s = Switch(x, p)\n"
            "n = Neg(o/add)\n"
            "o/input = Identity(s)\n"
            "o/begin = NoOp(^o/input)\n"
            "o/c = float [] {1} (^o/begin)\n"
            "o/d = float [] {2} (^o/begin)\n"
            "o/add = AddV2(o/c, o/d)\n");
}

}  // namespace
}  // namespace penstock
