#include <gtest/gtest.h>

#include "penstock/compile/passes.h"
#include "penstock/compile/testing/pass_text.h"

namespace penstock {
namespace {

std::string Simplified(std::string_view text) { return After(text, Simplify); }

// The graph is x, then what comes of it.
std::string OfX(std::string_view rest, std::string_view dtype = "float") {
  return Simplified(Format("x = Placeholder(shape=[?,3], dtype={})\n{}", dtype, rest));
}

TEST(Simplify, TakesOutWhatChangesNothing) {
  EXPECT_EQ(OfX("a = Identity(x) ; b = StopGradient(a) ; c = Snapshot(b) ; d = Neg(c)"),
            "x = Placeholder()\nd = Neg(x)\n");
  EXPECT_EQ(OfX("a = Identity(x) ; r = _Retval(a, index=0)"),
            "x = Placeholder()\nr = _Retval(x)\n");
  EXPECT_EQ(OfX("a = Cast(x, DstT=float) ; d = Neg(a)"), "x = Placeholder()\nd = Neg(x)\n");
}

TEST(Simplify, KeepsWhatOthersWaitFor) {
  EXPECT_EQ(OfX("a = Identity(x) ; n = NoOp(^a) ; b = Neg(a)"),
            "x = Placeholder()\na = Identity(x)\nn = NoOp(^a)\nb = Neg(x)\n");
  const char waits[] = "x = Placeholder()\nn = NoOp()\na = Identity(x, ^n)\nb = Neg(a)\n";
  EXPECT_EQ(OfX("n = NoOp() ; a = Identity(x, ^n) ; b = Neg(a)"), waits);
}

TEST(Simplify, KeepsAReadOfAVariable) {
  EXPECT_EQ(Simplified(R"(v = VariableV2(shape=[3], dtype=float)
                          a = Identity(v)
                          b = Neg(a))"),
            "v = VariableV2()\na = Identity(v)\nb = Neg(a)\n");
}

TEST(Simplify, MultipliesByOne) {
  const char x_alone[] = "x = Placeholder()\ny = Neg(x)\n";
  EXPECT_EQ(OfX("c = Const(value=1) ; a = Mul(x, c) ; y = Neg(a)"), x_alone);
  EXPECT_EQ(OfX("c = Const(value=1) ; a = Mul(c, x) ; y = Neg(a)"), x_alone);
  EXPECT_EQ(OfX("c = Const(value=[1]) ; a = RealDiv(x, c) ; y = Neg(a)"), x_alone);
  EXPECT_EQ(OfX("c = Const(value=half 1) ; a = Mul(x, c) ; y = Neg(a)", "half"), x_alone);
  // Here the constant decides the shape, or changes something.
  EXPECT_NE(OfX("c = Const(value=[[[1]]]) ; a = Mul(x, c) ; y = Neg(a)"), x_alone);
  EXPECT_NE(OfX("c = Const(value=[1,1,1]) ; a = Mul(x, c) ; y = Neg(a)"), x_alone);
  EXPECT_NE(OfX("c = Const(value=2) ; a = Mul(x, c) ; y = Neg(a)"), x_alone);
}

TEST(Simplify, AddsZeroToIntegersOnly) {
  const char x_alone[] = "x = Placeholder()\ny = Neg(x)\n";
  EXPECT_EQ(OfX("c = Const(value=int32 0) ; a = AddV2(x, c) ; y = Neg(a)", "int32"), x_alone);
  EXPECT_NE(OfX("c = Const(value=0) ; a = AddV2(x, c) ; y = Neg(a)"), x_alone);
  EXPECT_EQ(OfX("c = Const(value=0) ; a = Sub(x, c) ; y = Neg(a)"), x_alone);
  EXPECT_NE(OfX("c = Const(value=-0.0) ; a = Sub(x, c) ; y = Neg(a)"), x_alone);
}

TEST(Simplify, NegatesTwice) {
  EXPECT_EQ(OfX("a = Neg(x) ; b = Neg(a) ; c = Neg(b) ; y = Exp(c)"),
            "x = Placeholder()\nc = Neg(x)\ny = Exp(c)\n");
}

TEST(Simplify, ReshapesOnce) {
  EXPECT_EQ(Simplified(R"(x = Placeholder(shape=[2,6])
                          s = Const(value=int32[3,4])
                          t = Const(value=int32[-1,2])
                          a = Reshape(x, s)
                          b = Reshape(a, t)
                          u = Const(value=int32[2,6])
                          c = Reshape(b, u)
                          y = Neg(c))"),
            "x = Placeholder()\ny = Neg(x)\n");
  // The first of these might fail.
  const std::string text = OfX(R"(s = Const(value=int32[3,4])
                                  t = Const(value=int32[-1,2])
                                  a = Reshape(x, s)
                                  b = Reshape(a, t))");
  EXPECT_NE(text.find("b = Reshape(a, t)"), std::string::npos) << text;
}

TEST(Simplify, TransposesOnce) {
  EXPECT_EQ(Simplified(R"(x = Placeholder(shape=[?,?,?])
                          p = Const(value=int32[1,2,0])
                          a = Transpose(x, p)
                          b = Transpose(a, p)
                          y = Neg(b))"),
            "x = Placeholder()\nb = Transpose(x, b/perm)\ny = Neg(b)\n"
            "b/perm = int32 [3] {2, 0, 1}\n");
  EXPECT_EQ(Simplified(R"(x = Placeholder(shape=[?,?,?])
                          p = Const(value=int32[1,2,0])
                          q = Const(value=int32[2,0,1])
                          a = Transpose(x, p)
                          b = Transpose(a, q)
                          y = Neg(b))"),
            "x = Placeholder()\ny = Neg(x)\n");
}

}  // namespace
}  // namespace penstock
