#pragma once

#include <optional>
#include <string>
#include <vector>

#include "penstock/core/status.h"

// Which checkpoints a folder has: TensorFlow's file "checkpoint".
//
//   line*:
//   model_checkpoint_path: "model.ckpt-200"         the latest
//   all_model_checkpoint_paths: "model.ckpt-100"    those that are kept, the oldest first
//   all_model_checkpoint_timestamps: 1447027200.5   of each, in seconds since 1970
//   last_preserved_timestamp: 1447027000.5          of the last that is kept for good
//   # metric "model.ckpt-100" 0.973                 what was said of one; TensorFlow skips comments
//   # crc32c 1a2b3c4d                               of all before this line, and the last
//
// Paths are relative to the folder of the file, or absolute. TensorFlow's own file has neither
// comment: then nothing tells whether the file was cut.

namespace penstock::io {

struct CheckpointRecord {
  std::string prefix;  // relative to the folder, or absolute
  double seconds = 0;  // when it was saved, since 1970
  std::optional<double> metric = {};
};

struct CheckpointState {
  std::string latest;
  std::vector<CheckpointRecord> all;  // oldest first
  double last_preserved_seconds = 0;

  CheckpointRecord* Find(const std::string& prefix);
};

// NotFound when there is none, DataLoss when it does not parse or its checksum is wrong.
Result<CheckpointState> ReadCheckpointState(const std::string& path);
Result<CheckpointState> ParseCheckpointState(std::string_view text, std::string_view path);
std::string CheckpointStateText(const CheckpointState& state);
// Puts it in place whole or not at all.
Status WriteCheckpointState(const std::string& path, const CheckpointState& state);

}  // namespace penstock::io
