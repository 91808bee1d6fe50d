#include <gtest/gtest.h>

#include "penstock/compile/passes.h"
#include "penstock/compile/testing/pass_text.h"

namespace penstock {
namespace {

std::string FusedText(std::string_view text) { return After(text, FuseEpilogues); }

TEST(Epilogue, FollowsAProduct) {
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[8,4])
                         w = Placeholder(shape=[4,6])
                         b = Placeholder(shape=[6])
                         m = MatMul(x, w)
                         h = AddV2(b, m)
                         y = Relu(h)
                         z = Neg(y)
                         r = _Retval(z, index=0))"),
            "x = Placeholder()\n"
            "w = Placeholder()\n"
            "b = Placeholder()\n"
            "y = _EpilogueMatMul(x, w, b)\n"
            "z = Neg(y)\n"
            "r = _Retval(z)\n");
}

TEST(Epilogue, FollowsAConvolution) {
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[8,5,5,2])
                         w = Placeholder(shape=[3,3,2,6])
                         b = Placeholder(shape=[6])
                         s = Placeholder(shape=[8,5,5,6])
                         c = Conv2D(x, w, strides=[1,1,1,1], padding="SAME")
                         h = AddV2(c, b)
                         t = AddV2(s, h)
                         y = LeakyRelu(t, alpha=0.5)
                         r = _Retval(y, index=0))"),
            "x = Placeholder()\n"
            "w = Placeholder()\n"
            "b = Placeholder()\n"
            "s = Placeholder()\n"
            "y = _EpilogueConv2D(x, w, b, s)\n"
            "r = _Retval(y)\n");
}

TEST(Epilogue, TakesAConstantFilter) {
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[8,1,1,1])
                         w = Const(value=float[[[[2]]]])
                         c = Conv2D(x, w, strides=[1,1,1,1], padding="SAME")
                         r = _Retval(c, index=0))"),
            "x = Placeholder()\n"
            "w = float [1,1,1,1] {2}\n"
            "c = _EpilogueConv2D(x, w)\n"
            "r = _Retval(c)\n");
}

TEST(Epilogue, LeavesWhatIsReadElsewhere) {
  const char text[] =
      "x = Placeholder()\nw = Placeholder()\nm = MatMul(x, w)\ny = Relu(m)\nr = _Retval(y)\n";
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[8,4]) ; w = Placeholder(shape=[4,6])
                         m = MatMul(x, w) ; y = Relu(m) ; r = _Retval(y, index=0)
                         s = _Retval(m, index=1))"),
            std::string(text) + "s = _Retval(m)\n");
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[8,4]) ; w = Placeholder(shape=[4,6])
                         m = MatMul(x, w) ; y = Relu(m) ; r = _Retval(y, index=0)
                         n = NoOp(^m))"),
            std::string(text) + "n = NoOp(^m)\n");
}

TEST(Epilogue, LeavesWhatIsNone) {
  // Another broadcast, another type, another order.
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[8,4]) ; w = Placeholder(shape=[4,6])
                         b = Placeholder(shape=[8,1]) ; m = MatMul(x, w) ; y = AddV2(m, b))"),
            "x = Placeholder()\nw = Placeholder()\nb = Placeholder()\nm = MatMul(x, w)\n"
            "y = AddV2(m, b)\n");
  EXPECT_EQ(FusedText(R"(x = Placeholder(dtype=double, shape=[8,4])
                         m = MatMul(x, x, transpose_b=true) ; y = Relu(m))"),
            "x = Placeholder()\nm = MatMul(x, x)\ny = Relu(m)\n");
  EXPECT_EQ(FusedText(R"(x = Placeholder(shape=[8,4]) ; w = Placeholder(shape=[4,6])
                         b = Placeholder(shape=[6]) ; m = MatMul(x, w) ; y = Relu(m)
                         z = AddV2(y, b))"),
            "x = Placeholder()\nw = Placeholder()\nb = Placeholder()\n"
            "y = _EpilogueMatMul(x, w)\nz = AddV2(y, b)\n");
}

}  // namespace
}  // namespace penstock
