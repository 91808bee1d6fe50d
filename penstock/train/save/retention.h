#pragma once

#include <string>
#include <vector>

namespace penstock::io {
struct CheckpointRecord;
struct CheckpointState;
}  // namespace penstock::io

namespace penstock {

// Which checkpoints stay when a new one is saved. A checkpoint goes when no rule keeps it.
struct Retention {
  int max_to_keep = 5;          // the most recent so many; 0: all
  double keep_every_hours = 0;  // besides, one each so many hours, for good; 0: none
  int keep_best = 0;            // besides, so many with the best metric
  bool higher_is_better = false;
};

// Adds `saved` as the latest to the state, and takes those out of it that the rules no longer keep,
// or that stay for good and so are nobody's concern. Only checkpoints that are named after `base`
// go. Returns the prefixes that are to be removed.
std::vector<std::string> Retain(const Retention& rules, const std::string& base,
                                const io::CheckpointRecord& saved, io::CheckpointState* state);

}  // namespace penstock
