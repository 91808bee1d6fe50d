#include <gtest/gtest.h>

#include "penstock/compile/passes.h"
#include "penstock/compile/testing/pass_text.h"

namespace penstock {
namespace {

std::string Folded(std::string_view text) {
  return After(text, [](Graph& graph) { return FoldConstants(graph, StandardEvaluator()); });
}

TEST(Fold, ReplacesAChainByItsValue) {
  EXPECT_EQ(Folded(R"(a = Const(value=[1,2])
                      b = AddV2(a, a)
                      c = Neg(b)
                      x = Placeholder(shape=[2])
                      y = Mul(x, c))"),
            "c = float [2] {-2, -4}\n"
            "x = Placeholder()\n"
            "y = Mul(x, c)\n");
}

TEST(Fold, KeepsWhatIsStillRead) {
  EXPECT_EQ(Folded(R"(a = Const(value=[1,2])
                      b = Neg(a)
                      x = Placeholder(shape=[2])
                      y = Mul(x, a)
                      z = Mul(y, b))"),
            "a = float [2] {1, 2}\n"
            "b = float [2] {-1, -2}\n"
            "x = Placeholder()\n"
            "y = Mul(x, a)\n"
            "z = Mul(y, b)\n");
}

TEST(Fold, MakesAConstantOfEachOutputThatIsRead) {
  EXPECT_EQ(Folded(R"(axis = Const(value=int32 0)
                      a = Const(value=[1,2,3])
                      s = Split(axis, a, num_split=3)
                      x = Placeholder(shape=[1])
                      y = AddV2(x, s:2)
                      z = AddV2(y, s:2))"),
            "x = Placeholder()\n"
            "y = AddV2(x, s_1)\n"
            "z = AddV2(y, s_1)\n"
            "s_1 = float [1] {3}\n");
}

TEST(Fold, KeepsControlEdges) {
  // What waits for a folded node waits for the constant.
  EXPECT_EQ(Folded(R"(a = Const(value=1)
                      b = Neg(a, ^a)
                      n = NoOp(^b))"),
            "b = float [] {-1}\n"
            "n = NoOp(^b)\n");
  // A node that waits for another than a constant stays where it is, and so do its readers.
  const char text[] =
      "a = float [] {1}\n"
      "n = NoOp()\n"
      "b = Neg(a, ^n)\n"
      "c = Neg(b)\n";
  EXPECT_EQ(Folded(R"(a = Const(value=1)
                      n = NoOp()
                      b = Neg(a, ^n)
                      c = Neg(b))"),
            text);
  EXPECT_EQ(Folded(R"(n = NoOp()
                      a = Const(value=1, ^n)
                      b = Neg(a))"),
            "n = NoOp()\n"
            "a = float [] {1} (^n)\n"
            "b = Neg(a)\n");
}

TEST(Fold, ReadsShapesThatAreKnown) {
  EXPECT_EQ(Folded(R"(x = Placeholder(shape=[2,3])
                      m = Exp(x)
                      s = Shape(m)
                      n = Size(m)
                      y = Placeholder(shape=[?,3])
                      r = Rank(y)
                      t = Shape(y))"),
            "x = Placeholder()\n"
            "s = int32 [2] {2, 3}\n"
            "n = int32 [] {6}\n"
            "y = Placeholder()\n"
            "r = int32 [] {2}\n"
            "t = Shape(y)\n");
}

TEST(Fold, InfersShapesBehindConstants) {
  Graph graph;
  ASSERT_EQ(After(R"(x = Placeholder(shape=[2,3])
                     s = Shape(x)
                     two = Const(value=int32[2])
                     d = FloorDiv(s, two)
                     y = Placeholder()
                     r = Reshape(y, d)
                     z = Neg(r))",
                  [&](Graph& g) {
                    EXPECT_FALSE(g.output({g.FindNode("z"), 0}).shape.IsFullyKnown());
                    TRY(FoldConstants(g, StandardEvaluator()));
                    EXPECT_EQ(g.output({g.FindNode("z"), 0}).shape.ToString(), "[1,1]");
                    return OkStatus();
                  }),
            "x = Placeholder()\n"
            "d = int32 [2] {1, 1}\n"
            "y = Placeholder()\n"
            "r = Reshape(y, d)\n"
            "z = Neg(r)\n");
}

TEST(Fold, LeavesWhatFailsToTheStep) {
  EXPECT_EQ(Folded(R"(a = Const(value=int32 6)
                      b = Const(value=int32 0)
                      c = FloorDiv(a, b))"),
            "a = int32 [] {6}\n"
            "b = int32 [] {0}\n"
            "c = FloorDiv(a, b)\n");
}

TEST(Fold, MakesNothingLarge) {
  const std::string text = Folded(R"(n = Const(value=int32[1000000, 1000000])
                                     v = Const(value=1)
                                     f = Fill(n, v))");
  EXPECT_NE(text.find("f = Fill(n, v)"), std::string::npos) << text;
  // Doubling again and again ends somewhere.
  std::string doubling = "axis = Const(value=int32 0) ; x0 = Const(value=[1,2,3,4])\n";
  for (int i = 0; i < 40; ++i) {
    doubling += Format("x{} = ConcatV2(x{}, x{}, axis)\n", i + 1, i, i);
  }
  EXPECT_NE(Folded(doubling).find("x40 = ConcatV2"), std::string::npos);
}

TEST(Fold, LeavesStateAlone) {
  EXPECT_EQ(Folded(R"(v = VariableV2(shape=[], dtype=float)
                      a = Const(value=1)
                      i = Assign(v, a))"),
            "v = VariableV2()\n"
            "a = float [] {1}\n"
            "i = Assign(v, a)\n");
}

}  // namespace
}  // namespace penstock
