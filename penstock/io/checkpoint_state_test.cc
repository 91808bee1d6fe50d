#include "penstock/io/checkpoint_state.h"

#include <gtest/gtest.h>

namespace penstock::io {
namespace {

TEST(CheckpointState, IsReadAsItWasWritten) {
  CheckpointState state;
  state.latest = "model.ckpt-200";
  state.all = {{"model.ckpt-100", 1447027200.25, 0.1}, {"model \"x\"-200", 1447027300.5, {}}};
  state.last_preserved_seconds = 1447027000.75;
  const std::string text = CheckpointStateText(state);
  const Result<CheckpointState> read = ParseCheckpointState(text, "checkpoint");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->latest, state.latest);
  EXPECT_EQ(read->last_preserved_seconds, state.last_preserved_seconds);
  ASSERT_EQ(read->all.size(), 2u);
  EXPECT_EQ(read->all[0].seconds, 1447027200.25);
  EXPECT_EQ(read->all[0].metric, 0.1);
  EXPECT_EQ(read->all[1].prefix, state.all[1].prefix);
  EXPECT_FALSE(read->all[1].metric.has_value());
}

// As TensorFlow writes it.
TEST(CheckpointState, OfTensorFlow) {
  const Result<CheckpointState> read = ParseCheckpointState(
      "model_checkpoint_path: \"/tmp/m/model.ckpt-3\"\n"
      "all_model_checkpoint_paths: \"model.ckpt-2\"\n"
      "all_model_checkpoint_paths: \"/tmp/m/model.ckpt-3\"\n",
      "checkpoint");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->latest, "/tmp/m/model.ckpt-3");
  EXPECT_EQ(read->all.size(), 2u);
}

// A cut or changed file is found, wherever that is; but a file cut before its first comment may
// look like one of TensorFlow's.
TEST(CheckpointState, DamageIsFound) {
  CheckpointState state;
  state.latest = "model.ckpt-200";
  state.all = {{"model.ckpt-100", 1, 0.5}, {"model.ckpt-200", 2, 0.25}};
  const std::string good = CheckpointStateText(state);
  for (size_t i = 0; i < good.size(); ++i) {
    const Result<CheckpointState> cut = ParseCheckpointState(good.substr(0, i), "checkpoint");
    EXPECT_TRUE(!cut.ok() || cut->latest == state.latest) << i;
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    const Result<CheckpointState> changed = ParseCheckpointState(bad, "checkpoint");
    EXPECT_TRUE(!changed.ok() || changed->latest == state.latest) << bad;
  }
  EXPECT_EQ(ParseCheckpointState("", "checkpoint").status().code(), Code::kDataLoss);
  EXPECT_EQ(ParseCheckpointState("garbage {", "checkpoint").status().code(), Code::kDataLoss);
  EXPECT_EQ(ReadCheckpointState("/none/checkpoint").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace penstock::io
