#include <gtest/gtest.h>

#include <map>
#include <random>

#include "penstock/compile/arena.h"
#include "penstock/compile/passes.h"
#include "penstock/compile/testing/pass_text.h"
#include "penstock/graph/text_graph.h"

namespace penstock {
namespace {

struct Planned {
  Graph graph;
  Schedule schedule;

  int64_t Offset(std::string_view name) const {
    const OutputRef ref = *graph.FindOutput(name);
    if (schedule.places.empty() || schedule.places[ref.node].empty()) return -1;
    return schedule.places[ref.node][ref.port];
  }
};

Planned PlanText(std::string_view text) {
  Planned planned;
  Result<Graph> graph = ParseTextGraph(text, StandardOps());
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  planned.graph = *std::move(graph);
  planned.schedule = *MakeSchedule(planned.graph, 1);
  EXPECT_TRUE(planned.schedule.sequential);
  EXPECT_TRUE(PlanMemory(planned.graph, planned.schedule).ok());
  return planned;
}

// Layers over n floats, one upon the other.
std::string Chain(int layers, int64_t n) {
  std::string text = Format("x0 = Placeholder(shape=[{}])\n", n);
  for (int i = 0; i < layers; ++i) text += Format("x{} = Neg(x{})\n", i + 1, i);
  return text;
}

TEST(Memory, AChainNeedsOneBuffer) {
  const Planned planned = PlanText(Chain(100, 16 << 20));
  EXPECT_EQ(planned.schedule.arena_bytes, 64 << 20);
  EXPECT_EQ(planned.Offset("x1"), 0);
  EXPECT_EQ(planned.Offset("x100"), 0);
}

TEST(Memory, ResultsAreNotOurs) {
  const Planned small = PlanText(Chain(100, 16) + "r = _Retval(x100, index=0)");
  EXPECT_EQ(small.schedule.arena_bytes, 64);
  EXPECT_EQ(small.Offset("x99"), 0);
  EXPECT_EQ(small.Offset("x100"), -1);  // the caller keeps it
  // A large one is what a single buffer becomes in the end, layer by layer.
  const Planned large = PlanText(Chain(100, 16 << 20) + "r = _Retval(x100, index=0)");
  EXPECT_EQ(large.schedule.arena_bytes, 0);
}

TEST(Memory, KeepsWhatIsReadLater) {
  const Planned planned = PlanText(R"(x = Placeholder(shape=[16])
                                      a = Exp(x)
                                      b = Neg(a)
                                      c = Mul(a, b)
                                      d = Neg(c))");
  EXPECT_NE(planned.Offset("a"), planned.Offset("b"));
  EXPECT_EQ(planned.Offset("c"), planned.Offset("a"));
  EXPECT_EQ(planned.Offset("d"), planned.Offset("c"));
  EXPECT_EQ(planned.schedule.arena_bytes, 128);
}

TEST(Memory, FollowsAliases) {
  const Planned planned = PlanText(R"(x = Placeholder(shape=[16])
                                      s = Const(value=int32[4,4])
                                      a = Exp(x)
                                      view = Reshape(a, s)
                                      same = Identity(view)
                                      b = Neg(a)
                                      c = Neg(same)
                                      d = Exp(x)
                                      same_d = Identity(d)
                                      r = _Retval(same_d, index=0))");
  EXPECT_GE(planned.Offset("a"), 0);
  EXPECT_EQ(planned.Offset("view"), -1);
  EXPECT_NE(planned.Offset("a"), planned.Offset("b"));  // b is read no more, but a is
  EXPECT_EQ(planned.Offset("d"), -1);
}

TEST(Memory, LeavesToOthersWhatTheyKeep) {
  const Planned planned = PlanText(R"(x = Placeholder(shape=[16])
                                      u = Placeholder(shape=[?])
                                      v = VariableV2(shape=[16], dtype=float)
                                      a = Exp(x)
                                      i = Assign(v, a)
                                      b = Exp(u)
                                      c = Exp(x)
                                      m = Neg(c))");
  EXPECT_EQ(planned.Offset("a"), -1);
  EXPECT_EQ(planned.Offset("b"), -1);
  EXPECT_GE(planned.Offset("c"), 0);
}

TEST(Memory, WritesInPlaceOnlyWhereElementsMatch) {
  const Planned planned = PlanText(R"(x = Placeholder(shape=[4,4])
                                      a = Exp(x)
                                      m = MatMul(a, a)
                                      b = Exp(m)
                                      zero = Const(value=0)
                                      p = Greater(b, zero)
                                      row = Const(value=[[1,2,3,4]])
                                      e = Exp(row)
                                      f = AddV2(e, x))");
  EXPECT_NE(planned.Offset("m"), planned.Offset("a"));
  EXPECT_EQ(planned.Offset("b"), planned.Offset("m"));
  EXPECT_NE(planned.Offset("p"), planned.Offset("b"));
  EXPECT_NE(planned.Offset("f"), planned.Offset("e"));
}

TEST(Memory, PlansNothingAbsurd) {
  const Planned planned = PlanText(R"(x = Placeholder(shape=[1000000,1000000])
                                      y = Placeholder(shape=[100000,1000000])
                                      a = Exp(x)
                                      b = Exp(y)
                                      c = Exp(y)
                                      d = Exp(y)
                                      n = NoOp(^a, ^b)
                                      s = AddN(b, c, d))");
  EXPECT_EQ(planned.schedule.arena_bytes, 0);
  EXPECT_TRUE(planned.schedule.places.empty());
}

TEST(Memory, UpdatesOnlyReadTheirGradient) {
  const char* text = R"(v = VarHandleOp(dtype=float, shape=[1024], shared_name="v")
                        x = Placeholder(shape=[1024]) ; g = Neg(x) ; rate = Placeholder(shape=[])
                        u = {}(v, {} g))";
  const std::string moved = Format(text, "ResourceApplyGradientDescent", "rate,");
  EXPECT_GE(PlanText(moved).Offset("g"), 0);
  // An assignment keeps what it is given.
  EXPECT_EQ(PlanText(Format(text, "AssignVariableOp", "")).Offset("g"), -1);
}

TEST(Memory, ParallelSchedulesHaveNoPlan) {
  Graph graph = *ParseTextGraph("x = Placeholder(shape=[16]) ; y = Exp(x)", StandardOps());
  Schedule schedule = *MakeSchedule(graph, 1);
  schedule.sequential = false;
  ASSERT_TRUE(PlanMemory(graph, schedule).ok());
  EXPECT_TRUE(schedule.places.empty());
}

TEST(ArenaLayout, BlocksDoNotOverlap) {
  std::mt19937 random(1);
  ArenaLayout arena;
  std::map<int64_t, int64_t> taken;  // size by offset
  int64_t in_use = 0;
  int64_t most = 0;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 5 < 3 || taken.empty()) {
      const int64_t size = *ArenaLayout::Rounded(static_cast<int64_t>(random() % 5000));
      const int64_t offset = *arena.Take(size);
      ASSERT_EQ(offset % ArenaLayout::kAlignment, 0);
      const auto next = taken.upper_bound(offset);
      if (next != taken.end()) {
        ASSERT_LE(offset + size, next->first);
      }
      if (next != taken.begin()) {
        ASSERT_LE(std::prev(next)->first + std::prev(next)->second, offset);
      }
      ASSERT_LE(offset + size, arena.bytes());
      taken.emplace(offset, size);
      most = std::max(most, in_use += size);
    } else {
      const auto it = std::next(taken.begin(), static_cast<int64_t>(random() % taken.size()));
      arena.Give(it->first, it->second);
      in_use -= it->second;
      taken.erase(it);
    }
    if (taken.size() > 200) {
      for (const auto& [offset, size] : taken) arena.Give(offset, size);
      taken.clear();
      in_use = 0;
      const int64_t whole = arena.bytes();  // all stretches have become one
      ASSERT_EQ(*arena.Take(whole), 0);
      ASSERT_EQ(arena.bytes(), whole);
      arena.Give(0, whole);
    }
  }
  EXPECT_LT(arena.bytes(), 2 * most);
}

TEST(ArenaLayout, RefusesAbsurdSizes) {
  EXPECT_FALSE(ArenaLayout::Rounded(-1).has_value());
  EXPECT_FALSE(ArenaLayout::Rounded(INT64_MAX).has_value());
  EXPECT_EQ(*ArenaLayout::Rounded(0), 64);
  EXPECT_EQ(*ArenaLayout::Rounded(65), 128);
  ArenaLayout arena;
  EXPECT_TRUE(arena.Take(ArenaLayout::kMaxBytes).has_value());
  EXPECT_FALSE(arena.Take(64).has_value());
}

}  // namespace
}  // namespace penstock
