#include <gtest/gtest.h>

#include <string>

#include "penstock/compile/passes.h"
#include "penstock/compile/testing/pass_text.h"
#include "penstock/core/format.h"
#include "penstock/graph/text_graph.h"

namespace penstock {
namespace {

// Four nodes of an op that do not wait for one another, over n x n floats.
bool RunsInSequence(std::string_view op, std::string_view inputs, int64_t n) {
  std::string text = Format("x = Placeholder(shape=[{}, {}])\n", n, n);
  for (int i = 0; i < 4; ++i) text += Format("y{} = {}({})\n", i, op, inputs);
  const Result<Graph> graph = ParseTextGraph(text, StandardOps());
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return MakeSchedule(*graph, 2)->sequential;
}

TEST(Schedule, CheapNodesRunInSequence) { EXPECT_TRUE(RunsInSequence("MatMul", "x, x", 8)); }

// Each is too small to share, and they are dear enough to hand over.
TEST(Schedule, MiddlingNodesRunBesideEachOther) {
  EXPECT_FALSE(RunsInSequence("MatMul", "x, x", 64));
}

TEST(Schedule, LargeProductsUseTheThreadsInside) {
  EXPECT_TRUE(RunsInSequence("MatMul", "x, x", 1024));
}

TEST(Schedule, WhatCannotShareRunsBesideOthers) {
  EXPECT_FALSE(RunsInSequence("Cholesky", "x", 1024));
}

}  // namespace
}  // namespace penstock
