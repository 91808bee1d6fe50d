#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/train/loop/hook.h"
#include "penstock/train/loop/training.h"
#include "penstock/train/summary/summary_writer.h"

namespace penstock {

// Where a training loop keeps the variables of its graph. Threads: one at a time.
class CheckpointSink {
 public:
  virtual ~CheckpointSink() = default;
  // Keeps the present values, and `extra` with them. May return before they are on the disk.
  virtual Status Save(int64_t step, const Metrics& metrics, const NamedTensors& extra) = 0;
  // Gives the variables the values last kept, and returns those of `names` that were kept with
  // them; nothing when no values are there.
  virtual Result<std::optional<NamedTensors>> Restore(const std::vector<std::string>& names) = 0;
  // Waits until what was saved is on the disk, and says whether that worked.
  virtual Status Finish() { return OkStatus(); }
};

// Saves now and then and at the end of a run that did not fail; goes on, at its beginning, where
// the last one was.
struct Checkpoints {
  CheckpointSink* sink = nullptr;  // must outlive the trainer
  int64_t every_steps = 0;         // 0: not by steps
  double every_seconds = 0;        // 0: not by time
  bool at_end = true;
  bool resume = true;
  // When a save in the middle of a run fails. One at its end always throws.
  OnWriteError on_error = OnWriteError::kGoOn;
};
std::unique_ptr<Hook> MakeHook(const Checkpoints& settings);

}  // namespace penstock
