#include "penstock/train/save/retention.h"

#include <gtest/gtest.h>

#include "penstock/io/checkpoint_state.h"
#include "penstock/train/save/checkpoint_files.h"

namespace penstock {
namespace {

using Names = std::vector<std::string>;

Names NamesOf(const io::CheckpointState& state) {
  Names names;
  for (const auto& record : state.all) names.push_back(record.prefix);
  return names;
}

TEST(Retention, KeepsTheMostRecent) {
  io::CheckpointState state;
  state.all = {{"other-1", 1}};
  Names removed;
  for (int step = 1; step <= 5; ++step) {
    const Names now = Retain({.max_to_keep = 2}, "m", {StepPrefix("m", step), 10.0 * step}, &state);
    removed.insert(removed.end(), now.begin(), now.end());
  }
  EXPECT_EQ(removed, (Names{"m-1", "m-2", "m-3"}));
  EXPECT_EQ(NamesOf(state), (Names{"other-1", "m-4", "m-5"}));
  EXPECT_EQ(state.latest, "m-5");
  // Saved again: it moves to the end.
  EXPECT_TRUE(Retain({.max_to_keep = 2}, "m", {"m-4", 60}, &state).empty());
  EXPECT_EQ(NamesOf(state), (Names{"other-1", "m-5", "m-4"}));
  EXPECT_TRUE(Retain({.max_to_keep = 0}, "m", {"m-6", 60}, &state).empty());
  EXPECT_EQ(NamesOf(state).size(), 4u);
}

TEST(Retention, KeepsOneEachSoManyHours) {
  io::CheckpointState state;
  Names removed;
  for (int step = 0; step < 10; ++step) {  // half an hour apart
    const Names now = Retain({.max_to_keep = 1, .keep_every_hours = 1}, "m",
                             {StepPrefix("m", step), 1e6 + 1800.0 * step}, &state);
    removed.insert(removed.end(), now.begin(), now.end());
  }
  EXPECT_EQ(removed, (Names{"m-1", "m-3", "m-5", "m-7"}));
  EXPECT_EQ(state.last_preserved_seconds, 1e6 + 1800.0 * 8);
}

TEST(Retention, KeepsTheBest) {
  for (const bool higher : {false, true}) {
    const Retention rules{.max_to_keep = 1, .keep_best = 2, .higher_is_better = higher};
    io::CheckpointState state;
    const double metrics[] = {5, 1, 4, 9, __builtin_nan(""), 7};
    Names removed;
    for (int step = 0; step < 6; ++step) {
      const Names now =
          Retain(rules, "m", {StepPrefix("m", step), 10.0 * step, metrics[step]}, &state);
      removed.insert(removed.end(), now.begin(), now.end());
    }
    EXPECT_EQ(NamesOf(state), higher ? (Names{"m-3", "m-5"}) : (Names{"m-1", "m-2", "m-5"}));
    EXPECT_EQ(removed.size(), 6 - state.all.size());
  }
}

TEST(CheckpointFiles, Names) {
  EXPECT_EQ(StepOf("run-3/model.ckpt-120"), 120);
  EXPECT_FALSE(StepOf("run-3/model.ckpt").has_value());
  EXPECT_FALSE(StepOf("model-99999999999999999999").has_value());
  EXPECT_TRUE(IsNamedAfter("m", "m"));
  EXPECT_TRUE(IsNamedAfter("m-12", "m"));
  EXPECT_FALSE(IsNamedAfter("m-12b", "m"));
  EXPECT_FALSE(IsNamedAfter("model-1", "m"));
  EXPECT_EQ(SplitPrefix("model").folder, ".");
  EXPECT_EQ(SplitPrefix("a/b/model").folder, "a/b");
}

}  // namespace
}  // namespace penstock
