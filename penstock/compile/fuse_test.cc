#include <gtest/gtest.h>

#include "penstock/compile/passes.h"
#include "penstock/compile/testing/pass_text.h"

namespace penstock {
namespace {

std::string FusedText(std::string_view text) { return After(text, FuseElementwise); }

TEST(Fuse, MakesOneNodeOfAChain) {
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[64,128])
                         b = Placeholder(shape=[128])
                         h = AddV2(x, b)
                         t = Tanh(h)
                         y = Mul(t, t)
                         r = _Retval(y, index=0))"),
            "x = Placeholder()\n"
            "b = Placeholder()\n"
            "y = _Fused(x, b) AddV2(0,1) Tanh(2) Mul(3,3) -> 4\n"
            "r = _Retval(y)\n");
}

TEST(Fuse, KeepsEveryValueThatIsReadOutside) {
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[64,64])
                         a = Exp(x)
                         b = Neg(a)
                         c = Sqrt(b)
                         m = MatMul(a, a)
                         r = _Retval(c, index=0)
                         s = _Retval(m, index=1))"),
            "x = Placeholder()\n"
            "c = _Fused(x) Exp(0) Neg(1) Sqrt(2) -> 3 1\n"
            "m = MatMul(c:1, c:1)\n"
            "r = _Retval(c)\n"
            "s = _Retval(m)\n");
}

TEST(Fuse, LeavesSmallValuesAlone) {
  const char text[] = "x = Placeholder()\na = Neg(x)\nb = Neg(a)\n";
  EXPECT_EQ(FusedText("x = Placeholder(shape=[]) ; a = Neg(x) ; b = Neg(a)"), text);
  EXPECT_EQ(FusedText("x = Placeholder(shape=[1023]) ; a = Neg(x) ; b = Neg(a)"), text);
  EXPECT_EQ(FusedText("x = Placeholder(shape=[1024]) ; a = Neg(x) ; b = Neg(a)"),
            "x = Placeholder()\nb = _Fused(x) Neg(0) Neg(1) -> 2\n");
}

TEST(Fuse, ClosesNoCycle) {
  // s needs a, and d needs both a and s: a and d must not become one node.
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[64,64])
                         a = Exp(x)
                         axes = Const(value=int32[0,1])
                         s = Sum(a, axes)
                         d = Mul(a, s)
                         e = Neg(d)
                         r = _Retval(e, index=0))"),
            "x = Placeholder()\n"
            "a = Exp(x)\n"
            "axes = int32 [2] {0, 1}\n"
            "s = Sum(a, axes)\n"
            "e = _Fused(a, s) Mul(0,1) Neg(2) -> 3\n"
            "r = _Retval(e)\n");
  // The same by a control edge.
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[64,64])
                         a = Exp(x)
                         n = NoOp(^a)
                         d = Neg(a, ^n))"),
            "x = Placeholder()\n"
            "a = Exp(x)\n"
            "n = NoOp(^a)\n"
            "d = Neg(a, ^n)\n");
}

TEST(Fuse, MovesANodeToItsOnlyReaders) {
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[64,64])
                         w = Placeholder(shape=[64,64])
                         e = Exp(w)
                         m = MatMul(x, x)
                         y = Mul(m, e)
                         r = _Retval(y, index=0))"),
            "x = Placeholder()\n"
            "w = Placeholder()\n"
            "m = MatMul(x, x)\n"
            "y = _Fused(w, m) Exp(0) Mul(1,2) -> 3\n"
            "r = _Retval(y)\n");
}

TEST(Fuse, KeepsControlEdges) {
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[64,64])
                         n = NoOp()
                         a = Exp(x, ^n)
                         b = Neg(a)
                         o = NoOp(^a, ^b))"),
            "x = Placeholder()\n"
            "n = NoOp()\n"
            "b = _Fused(x, ^n) Exp(0) Neg(1) -> 2\n"
            "o = NoOp(^b)\n");
}

TEST(Fuse, TakesOnlyShapesThatMustAgree) {
  // Of unknown extents, those of one value agree with themselves, with scalars and known rows.
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[?,128])
                         row = Placeholder(shape=[128])
                         a = Exp(x)
                         b = AddV2(a, row)
                         c = Mul(a, b))"),
            "x = Placeholder()\n"
            "row = Placeholder()\n"
            "c = _Fused(x, row) Exp(0) AddV2(2,1) Mul(2,3) -> 4\n");
  // x might have one row and y many, or the other way round.
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[?,128])
                         y = Placeholder(shape=[?,128])
                         a = Exp(x)
                         b = Exp(y)
                         c = Mul(a, b)
                         d = Neg(c))"),
            "x = Placeholder()\n"
            "y = Placeholder()\n"
            "a = Exp(x)\n"
            "b = Exp(y)\n"
            "c = Mul(a, b)\n"
            "d = Neg(c)\n");
  // The row is computed once and read by each row of the sum.
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[64,128])
                         row = Placeholder(shape=[128])
                         e = Exp(row)
                         f = Neg(e)
                         b = AddV2(x, f)
                         c = Sqrt(b))"),
            "x = Placeholder()\n"
            "row = Placeholder()\n"
            "e = Exp(row)\n"
            "f = Neg(e)\n"
            "c = _Fused(x, f) AddV2(0,1) Sqrt(2) -> 3\n");
}

TEST(Fuse, LeavesOutWhatCanFail) {
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[4096], dtype=int32)
                         a = Neg(x)
                         b = FloorDiv(a, x)
                         c = Neg(b)
                         d = Square(c))"),
            "x = Placeholder()\n"
            "a = Neg(x)\n"
            "b = FloorDiv(a, x)\n"
            "d = _Fused(b) Neg(0) Square(1) -> 2\n");
}

TEST(Fuse, MixesTypes) {
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[4096])
                         z = Const(value=0)
                         p = Greater(x, z)
                         n = Neg(x)
                         y = SelectV2(p, x, n))"),
            "x = Placeholder()\n"
            "z = float [] {0}\n"
            "y = _Fused(x, z) Neg(0) Greater(0,1) SelectV2(3,0,2) -> 4\n");
}

TEST(Fuse, ConvertsTypes) {
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[?])
                         h = Cast(x, DstT=half)
                         n = Neg(h)
                         y = Cast(n, DstT=float)
                         z = AddV2(x, y))"),
            "x = Placeholder()\n"
            "z = _Fused(x) Cast(0) Neg(1) Cast(2) AddV2(0,3) -> 4\n");
  // An instruction has no attributes.
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[4096])
                         n = Neg(x)
                         y = Cast(n, DstT=half, Truncate=true))"),
            "x = Placeholder()\n"
            "n = Neg(x)\n"
            "y = Cast(n)\n");
}

TEST(Fuse, CutsWhatGrowsTooLarge) {
  std::string text = "x0 = Placeholder(shape=[4096])\n";
  for (int i = 0; i < 300; ++i) text += Format("x{} = Neg(x{})\n", i + 1, i);
  const std::string fused = FusedText(text);
  EXPECT_EQ(std::count(fused.begin(), fused.end(), '\n'), 1 + 3) << fused;
}

}  // namespace
}  // namespace penstock
