#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/core/status.h"

// The files of the checkpoints of a folder: which there are, which is the latest, which may go.

namespace penstock::io {
struct CheckpointState;
}  // namespace penstock::io

namespace penstock {

// "run/model.ckpt" as its folder and name; "." for the folder of a bare name.
struct PrefixParts {
  std::string folder;
  std::string name;
};
PrefixParts SplitPrefix(const std::string& prefix);
// "model.ckpt-120" of "model.ckpt" and 120.
std::string StepPrefix(const std::string& prefix, int64_t step);
// 120 of "run/model.ckpt-120"; none when it does not end so.
std::optional<int64_t> StepOf(const std::string& prefix);
// Whether `name` is `base`, or `base` with the number of a step.
bool IsNamedAfter(std::string_view name, std::string_view base);

// The checkpoints of a folder that have an index, the latest first: in the order of the state file,
// and, where it is missing or damaged, by time. Throws nothing: a folder that cannot be read has
// none.
std::vector<std::string> CheckpointsIn(const std::string& folder,
                                       const std::string& state_file = "checkpoint");
// The first of them, if there is one.
std::optional<std::string> LatestCheckpoint(const std::string& folder,
                                            const std::string& state_file = "checkpoint");

// The state of a folder, or what can be told from its files when the state file is damaged.
io::CheckpointState StateOf(const std::string& folder, const std::string& state_file);

// Removes a checkpoint: the index first, so that none is there in part. What cannot be removed
// stays.
void RemoveCheckpoint(const std::string& prefix);

// Removes what saves of checkpoints named after `base` have left in `folder` when they were killed:
// unfinished files, and data files of no index. Only files older than `before` (nanoseconds since
// 1970).
void RemoveOrphans(const std::string& folder, const std::string& base,
                   const std::string& state_file, int64_t before);

// What there is at `path`, which was expected to be a checkpoint's prefix and is not: an error that
// says so.
Status NoCheckpoint(const std::string& path);

}  // namespace penstock
