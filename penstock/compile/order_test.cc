#include <gtest/gtest.h>

#include <algorithm>

#include "penstock/compile/passes.h"
#include "penstock/graph/text_graph.h"

namespace penstock {
namespace {

struct Ordered {
  Graph graph;
  Schedule schedule;

  int At(std::string_view name) const {
    const auto& order = schedule.order;
    return static_cast<int>(std::find(order.begin(), order.end(), graph.FindNode(name)) -
                            order.begin());
  }
};

Ordered Order(std::string_view text, bool reorder = true) {
  Ordered out;
  Result<Graph> graph = ParseTextGraph(text, StandardOps());
  if (!graph.ok()) {
    ADD_FAILURE() << graph.status().ToString();
    return out;
  }
  out.graph = *std::move(graph);
  out.schedule = *MakeSchedule(out.graph, 1);
  if (reorder) {
    EXPECT_TRUE(OrderForMemory(out.graph, out.schedule).ok());
  }
  EXPECT_TRUE(PlanMemory(out.graph, out.schedule).ok());
  return out;
}

// Terms that are all ready at once, but are added up one after the other.
std::string Terms(int count, int64_t n) {
  std::string text = Format("x = Placeholder(shape=[{}])\ny0 = Neg(x)\n", n);
  for (int i = 0; i < count; ++i) {
    text += Format("term{} = Exp(x)\ny{} = Sub(y{}, term{})\n", i, i + 1, i, i);
  }
  return text + Format("zero = Const(value=int32 0)\nsum = Sum(y{}, zero)\n", count);
}

TEST(MemoryOrder, ComputesValuesWhenTheyAreNeeded) {
  constexpr int64_t kBytes = 4 << 20;
  EXPECT_GE(Order(Terms(20, kBytes / 4), false).schedule.arena_bytes, 20 * kBytes);
  const Ordered ordered = Order(Terms(20, kBytes / 4));
  EXPECT_LE(ordered.schedule.arena_bytes, 3 * kBytes);
  for (int i = 1; i < 20; ++i)
    EXPECT_LT(ordered.At(Format("y{}", i)), ordered.At(Format("term{}", i)));
}

TEST(MemoryOrder, LeavesSmallGraphsAlone) {
  const std::string text = Terms(20, 16);
  EXPECT_EQ(Order(text).schedule.order, Order(text, false).schedule.order);
}

TEST(MemoryOrder, IsAnOrderOfTheGraph) {
  const Ordered ordered = Order(Terms(20, 1 << 20));
  EXPECT_EQ(static_cast<int>(ordered.schedule.order.size()), ordered.graph.num_live_nodes());
  for (const NodeId id : ordered.schedule.order) {
    for (const OutputRef& input : ordered.graph.node(id).inputs)
      EXPECT_LT(ordered.At(ordered.graph.node(input.node).name),
                ordered.At(ordered.graph.node(id).name));
  }
}

TEST(MemoryOrder, ReadsAsSoonAsThatFrees) {
  // Each large value has a small use; the small results are needed at the end.
  std::string text = "x0 = Placeholder(shape=[1048576])\nzero = Const(value=int32 0)\n";
  for (int i = 0; i < 10; ++i) {
    text += Format("x{} = Sin(x{})\nwide{} = Exp(x{})\nsmall{} = Sum(wide{}, zero)\n", i + 1, i, i,
                   i, i, i);
  }
  const Ordered ordered = Order(text);
  EXPECT_LE(ordered.schedule.arena_bytes, 3 * (4 << 20));
}

TEST(MemoryOrder, KeepsTheOrderOfEffects) {
  std::string text = Terms(10, 1 << 20) + R"(
    v = VarHandleOp(dtype=float, shape=[])
    before = ReadVariableOp(v, dtype=float)
    value = Const(value=float 1)
    large = Sum(y10, zero)
    assign = AssignVariableOp(v, large)
    w = VarHandleOp(dtype=float, shape=[], shared_name="w")
    seen = ReadVariableOp(w, dtype=float, ^assign)
    after = AssignAddVariableOp(v, seen)
  )";
  const Ordered as_is = Order(text, false), ordered = Order(text);
  EXPECT_NE(as_is.schedule.order, ordered.schedule.order);
  const auto effects = [](const Ordered& from) {
    std::vector<NodeId> nodes;
    for (const NodeId id : from.schedule.order) {
      if (!from.graph.node(id).op->traits.pure) nodes.push_back(id);
    }
    return nodes;
  };
  EXPECT_EQ(effects(as_is), effects(ordered));
}

}  // namespace
}  // namespace penstock
