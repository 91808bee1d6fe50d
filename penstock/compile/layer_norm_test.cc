#include <gtest/gtest.h>

#include <string>

#include "penstock/compile/passes.h"
#include "penstock/compile/testing/pass_text.h"

namespace penstock {
namespace {

constexpr char kNorm[] = R"(x = Placeholder(shape=[8,4])
    gamma = Placeholder(shape=[4])
    beta = Placeholder(shape=[4])
    axes = Const(value=int32[1])
    eps = Const(value=0.5)
    mean = Mean(x, axes, keep_dims=true)
    squares = SquaredDifference(x, mean)
    variance = Mean(squares, axes, keep_dims=true)
    sum = AddV2(variance, eps)
    inverse = Rsqrt(sum)
    scale = Mul(inverse, gamma)
    scaled = Mul(x, scale)
    moved = Mul(mean, scale)
    shift = Sub(beta, moved)
    y = AddV2(scaled, shift)
)";

TEST(LayerNorm, BecomesOneNode) {
  EXPECT_EQ(After(kNorm, FuseLayerNorms),
            "x = Placeholder()\n"
            "gamma = Placeholder()\n"
            "beta = Placeholder()\n"
            "y = _FusedLayerNorm(x, gamma, beta)\n");
}

TEST(LayerNorm, StaysWhereOthersReadItsParts) {
  const std::string text = After(std::string(kNorm) + "other = Neg(inverse)\n", FuseLayerNorms);
  EXPECT_EQ(text.find("_FusedLayerNorm"), std::string::npos) << text;
}

TEST(LayerNorm, NormalisesRowsOnly) {
  std::string columns = kNorm;
  columns.replace(columns.find("int32[1]"), 8, "int32[0]");
  EXPECT_EQ(After(columns, FuseLayerNorms).find("_FusedLayerNorm"), std::string::npos);
  std::string wider = kNorm;
  wider.replace(wider.find("shape=[4]"), 9, "shape=[1]");
  EXPECT_EQ(After(wider, FuseLayerNorms).find("_FusedLayerNorm"), std::string::npos);
}

}  // namespace
}  // namespace penstock
