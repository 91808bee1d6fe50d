#include <gtest/gtest.h>

#include "penstock/compile/passes.h"
#include "penstock/compile/testing/pass_text.h"

namespace penstock {
namespace {

std::string Merged(std::string_view text) { return After(text, MergeCommonSubexpressions); }

TEST(Merge, KeepsTheFirstOfItsLike) {
  EXPECT_EQ(Merged(R"(x = Placeholder(shape=[2])
                      a = Exp(x)
                      b = Exp(x)
                      c = Neg(a)
                      d = Neg(b)
                      e = AddV2(c, d))"),
            "x = Placeholder()\n"
            "a = Exp(x)\n"
            "c = Neg(a)\n"
            "e = AddV2(c, c)\n");
}

TEST(Merge, ComparesAttributesAndDevices) {
  const char text[] =
      "x = Placeholder()\n"
      "a = MatMul(x, x)\n"
      "b = MatMul(x, x)\n"
      "c = MatMul(x, x)\n";
  EXPECT_EQ(Merged(R"(x = Placeholder(shape=[2,2])
                      a = MatMul(x, x)
                      b = MatMul(x, x, transpose_b=true)
                      c = MatMul(x, x, device="/cpu:0"))"),
            text);
}

TEST(Merge, ComparesConstantsByContent) {
  EXPECT_EQ(Merged(R"(a = Const(value=[1,2])
                      b = Const(value=[1,2])
                      c = Const(value=[[1,2]])
                      d = Const(value=int32[1,2])
                      e = Const(value=[1,3])
                      f = AddV2(a, b)
                      g = AddV2(f, e))"),
            "a = float [2] {1, 2}\n"
            "c = float [1,2] {1, 2}\n"
            "d = int32 [2] {1, 2}\n"
            "e = float [2] {1, 3}\n"
            "f = AddV2(a, a)\n"
            "g = AddV2(f, e)\n");
}

TEST(Merge, SwapsInputsOnlyWhereNoBitDependsOnIt) {
  EXPECT_EQ(Merged(R"(x = Placeholder(shape=[2], dtype=int32)
                      y = Placeholder(shape=[2], dtype=int32)
                      a = Mul(x, y)
                      b = Mul(y, x)
                      c = Sub(x, y)
                      d = Sub(y, x)
                      e = AddN(a, b, c, d))"),
            "x = Placeholder()\n"
            "y = Placeholder()\n"
            "a = Mul(x, y)\n"
            "c = Sub(x, y)\n"
            "d = Sub(y, x)\n"
            "e = AddN(a, a, c, d)\n");
  EXPECT_EQ(Merged(R"(x = Placeholder(shape=[2])
                      y = Placeholder(shape=[2])
                      a = Mul(x, y)
                      b = Mul(y, x)
                      c = Maximum(x, y)
                      d = Maximum(y, x)
                      e = AddN(a, b, c, d))"),
            "x = Placeholder()\n"
            "y = Placeholder()\n"
            "a = Mul(x, y)\n"
            "c = Maximum(x, y)\n"
            "d = Maximum(y, x)\n"
            "e = AddN(a, a, c, d)\n");
}

TEST(Merge, MovesControlEdges) {
  EXPECT_EQ(Merged(R"(x = Placeholder(shape=[2])
                      a = Exp(x)
                      b = Exp(x)
                      c = Exp(x, ^a)
                      d = Exp(x, ^b)
                      n = NoOp(^a, ^b, ^d)
                      m = NoOp(^a, ^b, ^d))"),
            "x = Placeholder()\n"
            "a = Exp(x)\n"
            "c = Exp(x, ^a)\n"
            "n = NoOp(^a, ^c)\n"
            "m = NoOp(^a, ^c)\n");
}

TEST(Merge, LeavesStateAlone) {
  const char text[] =
      "v = VariableV2()\n"
      "w = VariableV2()\n"
      "a = Identity(v)\n"
      "b = Identity(v)\n";
  EXPECT_EQ(Merged(R"(v = VariableV2(shape=[], dtype=float, shared_name="s")
                      w = VariableV2(shape=[], dtype=float, shared_name="s")
                      a = Identity(v)
                      b = Identity(v))"),
            text);
}

}  // namespace
}  // namespace penstock
