#pragma once

#include <string>

#include "penstock/train/loop/checkpoints.h"
#include "penstock/train/save/saver.h"

namespace penstock {

// Keeps the checkpoints of a trainer by a Saver, in the background:
//
//   Saver saver(g);
//   SaverSink sink(session, saver, "run/model.ckpt", "eval/accuracy");
//   trainer.Use(Checkpoints{.sink = &sink, .every_steps = 500});
//
// All must outlive the trainer. Threads: one at a time.
class SaverSink final : public CheckpointSink {
 public:
  // `metric`, where given, is the one that Retention::keep_best goes by.
  SaverSink(Session& session, Saver& saver, std::string prefix, std::string metric = {});

  Status Save(int64_t step, const Metrics& metrics, const NamedTensors& extra) override;
  // From the latest checkpoint of the prefix's folder that is not damaged.
  Result<std::optional<NamedTensors>> Restore(const std::vector<std::string>& names) override;
  Status Finish() override;

 private:
  Session& session_;
  Saver& saver_;
  const std::string prefix_;
  const std::string metric_;
};

}  // namespace penstock
