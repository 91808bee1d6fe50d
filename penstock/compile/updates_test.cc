#include <gtest/gtest.h>

#include <string>

#include "penstock/compile/passes.h"
#include "penstock/compile/testing/pass_text.h"

namespace penstock {
namespace {

constexpr char kVariables[] = R"(
    a = VarHandleOp(dtype=float, shape=[3], shared_name="a")
    b = VarHandleOp(dtype=float, shape=[5,2], shared_name="b")
    rate = Placeholder(shape=[])
    da = Placeholder(shape=[3])
    db = Placeholder(shape=[5,2])
)";
bool IsGathered(const std::string& text) {
  const std::string after = After(kVariables + text, GatherUpdates);
  EXPECT_EQ(after.find("INVALID"), std::string::npos) << after;
  return after.find("_ResourceApplyMany") != std::string::npos;
}

TEST(GatherUpdates, MakesOneNodeOfMany) {
  EXPECT_EQ(After(std::string(kVariables) + R"(
                      x = ResourceApplyGradientDescent(a, rate, da)
                      y = ResourceApplyGradientDescent(b, rate, db, ^da)
                      step = NoOp(^x, ^y))",
                  GatherUpdates),
            "a = VarHandleOp()\n"
            "b = VarHandleOp()\n"
            "rate = Placeholder()\n"
            "da = Placeholder()\n"
            "db = Placeholder()\n"
            "x = _ResourceApplyMany(a, b, rate, da, db, ^da)\n"
            "step = NoOp(^x)\n");
}

TEST(GatherUpdates, KeepsSlotsWithTheirVariables) {
  const std::string after = After(std::string(kVariables) + R"(
      ma = VarHandleOp(dtype=float, shape=[3], shared_name="ma")
      mb = VarHandleOp(dtype=float, shape=[5,2], shared_name="mb")
      x = ResourceApplyMomentum(a, ma, rate, da, rate)
      y = ResourceApplyMomentum(b, mb, rate, db, rate))",
                                  GatherUpdates);
  EXPECT_NE(after.find("x = _ResourceApplyMany(a, ma, b, mb, rate, rate, da, db)"),
            std::string::npos)
      << after;
}

TEST(GatherUpdates, KeepsApartWhatDiffers) {
  EXPECT_TRUE(
      IsGathered("x = ResourceApplyGradientDescent(a, rate, da)\n"
                 "y = ResourceApplyGradientDescent(b, rate, db)"));
  // Numbers, devices, switches, rules.
  EXPECT_FALSE(
      IsGathered("other = Placeholder(shape=[])\n"
                 "x = ResourceApplyGradientDescent(a, rate, da)\n"
                 "y = ResourceApplyGradientDescent(b, other, db)"));
  EXPECT_FALSE(
      IsGathered("x = ResourceApplyGradientDescent(a, rate, da)\n"
                 "y = ResourceApplyGradientDescent(b, rate, db, device=\"/cpu:0\")"));
  const std::string slots =
      "ma = VarHandleOp(dtype=float, shape=[3], shared_name=\"ma\")\n"
      "mb = VarHandleOp(dtype=float, shape=[5,2], shared_name=\"mb\")\n";
  EXPECT_FALSE(IsGathered(slots +
                          "x = ResourceApplyMomentum(a, ma, rate, da, rate)\n"
                          "y = ResourceApplyMomentum(b, mb, rate, db, rate, use_nesterov=true)"));
  EXPECT_FALSE(IsGathered(slots + "x = ResourceApplyAdagrad(a, ma, rate, da)\n"
                                  "y = ResourceApplyGradientDescent(b, rate, db)"));
}

TEST(GatherUpdates, LeavesLargeVariablesAlone) {
  EXPECT_FALSE(
      IsGathered("c = VarHandleOp(dtype=float, shape=[100000], shared_name=\"c\")\n"
                 "dc = Placeholder(shape=[100000])\n"
                 "x = ResourceApplyGradientDescent(a, rate, da)\n"
                 "y = ResourceApplyGradientDescent(c, rate, dc)"));
}

TEST(GatherUpdates, MovesAVariableOnceInANode) {
  EXPECT_FALSE(
      IsGathered("x = ResourceApplyGradientDescent(a, rate, da)\n"
                 "y = ResourceApplyGradientDescent(a, rate, da)"));
  // Another handle of the same state.
  EXPECT_FALSE(
      IsGathered("same = VarHandleOp(dtype=float, shape=[3], shared_name=\"a\")\n"
                 "x = ResourceApplyGradientDescent(a, rate, da)\n"
                 "y = ResourceApplyGradientDescent(same, rate, da)"));
}

TEST(GatherUpdates, KeepsTheOrderOfUpdates) {
  EXPECT_FALSE(
      IsGathered("x = ResourceApplyGradientDescent(a, rate, da)\n"
                 "then = NoOp(^x)\n"
                 "y = ResourceApplyGradientDescent(b, rate, db, ^then)"));
}

TEST(GatherUpdates, LeavesRulesAloneThatLookAtTheWholeVariable) {
  EXPECT_FALSE(IsGathered(R"(
      ma = VarHandleOp(dtype=float, shape=[3], shared_name="ma")
      va = VarHandleOp(dtype=float, shape=[3], shared_name="va")
      mb = VarHandleOp(dtype=float, shape=[5,2], shared_name="mb")
      vb = VarHandleOp(dtype=float, shape=[5,2], shared_name="vb")
      x = _ResourceApplyLamb(a, ma, va, rate, rate, rate, rate, rate, rate, rate, da)
      y = _ResourceApplyLamb(b, mb, vb, rate, rate, rate, rate, rate, rate, rate, db))"));
}

constexpr char kRead[] = R"(
    w = VarHandleOp(dtype=float, shape=[3], shared_name="w")
    r = ReadVariableOp(w, dtype=float)
    y = Neg(r)
    g = Placeholder(shape=[3])
    rate = Placeholder(shape=[])
)";

TEST(OrderUpdates, ReadsAndUsesFirst) {
  EXPECT_EQ(
      After(std::string(kRead) + "u = ResourceApplyGradientDescent(w, rate, g)", OrderUpdates),
      "w = VarHandleOp()\n"
      "r = ReadVariableOp(w)\n"
      "y = Neg(r)\n"
      "g = Placeholder()\n"
      "rate = Placeholder()\n"
      "u = ResourceApplyGradientDescent(w, rate, g, ^r, ^y)\n");
}

TEST(OrderUpdates, KeepsToTheOrderThatIsStated) {
  const std::string after = After(std::string(kRead) + R"(
      u = AssignSubVariableOp(w, y)
      later = ReadVariableOp(w, ^u, dtype=float)
      z = Neg(later))",
                                  OrderUpdates);
  EXPECT_NE(after.find("u = AssignSubVariableOp(w, y, ^r)\n"), std::string::npos) << after;
  EXPECT_NE(after.find("later = ReadVariableOp(w, ^u)\n"), std::string::npos) << after;
}

// Reads of each variable come after the update of the other: one of them has to be last.
TEST(OrderUpdates, ClosesNoCircle) {
  const std::string after = After(R"(
      v = VarHandleOp(dtype=float, shape=[3], shared_name="v")
      w = VarHandleOp(dtype=float, shape=[3], shared_name="w")
      g = Placeholder(shape=[3])
      uv = AssignVariableOp(v, g)
      uw = AssignVariableOp(w, g)
      rv = ReadVariableOp(v, ^uw, dtype=float)
      rw = ReadVariableOp(w, ^uv, dtype=float))",
                                  OrderUpdates);
  EXPECT_NE(after.find("uv = AssignVariableOp(v, g, ^rv)"), std::string::npos) << after;
  EXPECT_NE(after.find("uw = AssignVariableOp(w, g)"), std::string::npos) << after;
}

TEST(OrderUpdates, LeavesOtherVariablesAlone) {
  const std::string after =
      After(std::string(kRead) + R"(v = VarHandleOp(dtype=float, shape=[3], shared_name="v")
                                    u = AssignVariableOp(v, g))",
            OrderUpdates);
  EXPECT_NE(after.find("u = AssignVariableOp(v, g)\n"), std::string::npos) << after;
}

}  // namespace
}  // namespace penstock
