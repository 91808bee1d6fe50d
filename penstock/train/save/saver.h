#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/client/session.h"
#include "penstock/train/save/background.h"
#include "penstock/train/save/checkpoint_files.h"
#include "penstock/train/save/restore_report.h"
#include "penstock/train/save/retention.h"
#include "penstock/train/save/variable_values.h"

namespace penstock {

struct SaverOptions {
  std::vector<Parameter> variables = {};  // none: all of the graph that were made so far
  Retention retention = {};
  // The most a data file holds, unless one tensor alone is larger.
  uint64_t max_shard_bytes = UINT64_MAX;
  std::string state_file = "checkpoint";
  std::function<double()> now = {};  // seconds since 1970; the system's clock unless given
};

struct SaveRequest {
  std::optional<int64_t> step = {};   // becomes part of the name: "model.ckpt-120"
  std::optional<double> metric = {};  // what Retention::keep_best goes by
  // Tensors that go along: the position of the input, the state of random numbers. ReadSaved gives
  // them back.
  std::vector<std::pair<std::string, Tensor>> extra = {};
};

struct RestoreRequest {
  // Names of the checkpoint, and those that variables have in the graph: a whole name, or a scope
  // that ends in '/' ({"old_model/", "encoder/"}; "" for all). The longest that fits a variable
  // holds; a variable that none fits has its own name.
  std::map<std::string, std::string> names = {};
  // Restores what fits and leaves other variables alone. Otherwise all must fit, or none is
  // touched.
  bool partial = false;
};

// Saves variables of a graph and restores them, as checkpoints that TensorFlow reads and writes:
//
//   Saver saver(g, {.retention = {.max_to_keep = 3}});
//   saver.Save(session, "run/model.ckpt", {.step = 100});           // run/model.ckpt-100.*
//   saver.SaveAsync(session, "run/model.ckpt", {.step = 200});      // the next step need not wait
//   saver.Restore(session, *LatestCheckpoint("run"));
//
// A checkpoint is there as a whole or not at all: whatever ends the process, or the machine's
// power, the last one that was saved can be restored. Errors are thrown; what was saved before
// stays. Threads: one at a time; sessions may run steps meanwhile.
class Saver {
 public:
  // Throws InvalidArgument when two variables have one name.
  explicit Saver(Graph& graph, SaverOptions options = {});
  // Waits for a save in the background; its error goes to the log when nobody has seen it.
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  const std::vector<Parameter>& variables() const { return values_.variables(); }

  // Returns the prefix of what was saved, when it is on the disk. Takes 24 MB beside the variables.
  std::string Save(Session& session, const std::string& prefix, const SaveRequest& request = {});

  // What happens when a save is asked for while another runs in the background.
  enum class WhenBusy { kWait, kRefuse };
  // The same in the background: holds on to the values, which variables that change meanwhile leave
  // behind, so that at most one copy of them is made. Throws the error of an earlier one that
  // nobody has seen; and Unavailable when it is to be refused.
  std::string SaveAsync(Session& session, const std::string& prefix,
                        const SaveRequest& request = {}, WhenBusy when_busy = WhenBusy::kWait);
  bool is_saving() const { return background_.is_running(); }
  // Returns when nothing is saved in the background any more; throws its error.
  void Wait();

  // What of a checkpoint fits, without restoring it.
  RestoreReport Compare(const std::string& prefix, const RestoreRequest& request = {}) const;
  // Assigns variables what the checkpoint has, bit for bit. Throws NotFound or InvalidArgument,
  // with nothing changed, when it is none or does not fit; DataLoss when it is damaged: what is cut
  // is found before anything is changed, a wrong checksum when that tensor is read. A variable in
  // which damage was found holds its old value, or, if it is large, nothing.
  RestoreReport Restore(Session& session, const std::string& prefix,
                        const RestoreRequest& request = {});
  // Of the latest checkpoint of a folder that is not damaged; says on the log which ones are.
  // Throws NotFound when there is none at all.
  RestoreReport RestoreLatest(Session& session, const std::string& folder,
                              const RestoreRequest& request = {});

 private:
  // One save, with all it needs.
  struct Job;
  Job MakeJob(Session& session, const std::string& prefix, const SaveRequest& request);
  Status Run(Job job) const;

  const SaverOptions options_;
  const int64_t made_ns_;  // since 1970
  VariableValues values_;
  Background background_;
};

// A tensor of a checkpoint; throws NotFound when there is none of that name.
Tensor ReadSaved(const std::string& prefix, const std::string& name);

}  // namespace penstock
