#include <gtest/gtest.h>

#include "penstock/compile/passes.h"
#include "penstock/compile/testing/pass_text.h"

namespace penstock {
namespace {

std::string GatedText(std::string_view text) {
  return After(text, [](Graph& graph) -> Status {
    TRY(FuseEpilogues(graph));
    TRY(FuseElementwise(graph));
    return FuseGates(graph);
  });
}

constexpr char kCell[] = R"(x = Placeholder(shape=[ROWS,8])
                            w = Placeholder(shape=[8,256])
                            b = Placeholder(shape=[256])
                            c = Placeholder(shape=[ROWS,128])
                            axis = Const(value=int32 1)
                            m = MatMul(x, w)
                            h = BiasAdd(m, b)
                            s = Split(axis, h, num_split=2)
                            i = Sigmoid(s)
                            j = Tanh(s:1)
                            k = Mul(i, j)
                            y = AddV2(c, k)
                            r = _Retval(y, index=0))";

std::string CellOf(std::string rows) {
  std::string text = kCell;
  for (size_t at; (at = text.find("ROWS")) != std::string::npos;) text.replace(at, 4, rows);
  return text;
}

TEST(Gates, AreOneNodeWithTheirProduct) {
  EXPECT_EQ(GatedText(CellOf("16")),
            "x = Placeholder()\n"
            "w = Placeholder()\n"
            "b = Placeholder()\n"
            "c = Placeholder()\n"
            "axis = int32 [] {1}\n"
            "y = _GatedMatMul(x, w, b, c)\n"
            "r = _Retval(y)\n");
}

TEST(Gates, LeaveProductsOfManyRows) {
  EXPECT_EQ(GatedText(CellOf("64")).find("_GatedMatMul"), std::string::npos);
}

TEST(Gates, LeaveAProductThatIsReadElsewhere) {
  const std::string text = CellOf("16") + "\nz = Neg(h)\nq = _Retval(z, index=1)";
  EXPECT_EQ(GatedText(text).find("_GatedMatMul"), std::string::npos);
}

TEST(Gates, LeaveASplitOfRows) {
  EXPECT_EQ(GatedText(R"(x = Placeholder(shape=[16,8])
                         w = Placeholder(shape=[8,256])
                         axis = Const(value=int32 0)
                         m = MatMul(x, w)
                         s = Split(axis, m, num_split=2)
                         i = Sigmoid(s)
                         j = Tanh(s:1)
                         y = Mul(i, j)
                         r = _Retval(y, index=0))")
                .find("_GatedMatMul"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock
