#include <gtest/gtest.h>

#include "penstock/compile/passes.h"
#include "penstock/graph/scope.h"

namespace penstock {
namespace {

TEST(Reread, ThoseWhoComeAfterAnUpdate) {
  Graph graph;
  const Scope scope(graph);
  const Expr one = scope.Constant(Tensor::Scalar(1.f));
  const Expr v = scope.Add("VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", Shape()}}, "v");
  const Expr u = scope.Add("VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", Shape()}}, "u");
  const Expr read = scope.Add("Identity", {v}, {}, "read");
  const Expr other = scope.Add("Identity", {u}, {}, "other");
  const Expr update = scope.Add("AssignAdd", {v, one}, {}, "update");
  const Expr before = scope.Add("Mul", {read, read}, {}, "before");
  const Expr after = scope.Add("Mul", {read, other}, {}, "after");
  graph.AddControlInput(after.ref().node, update.ref().node);
  ASSERT_TRUE(scope.status().ok()) << scope.status().ToString();

  ASSERT_TRUE(RereadReferences(graph).ok());
  ASSERT_TRUE(graph.Verify().ok());
  EXPECT_EQ(graph.node(before.ref().node).inputs[0], read.ref());
  // The variable that is updated is read itself; the other need not be.
  const Node& changed = graph.node(after.ref().node);
  EXPECT_EQ(changed.inputs[0], v.ref());
  EXPECT_EQ(changed.inputs[1], other.ref());
}

}  // namespace
}  // namespace penstock
