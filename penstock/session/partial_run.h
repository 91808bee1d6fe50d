#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/execute/step.h"
#include "penstock/session/partial_graph.h"
#include "penstock/session/session.h"
#include "penstock/session/step_table.h"
#include "penstock/transport/rendezvous.h"

namespace penstock {

// A step that is fed and fetched in pieces while it runs. Each node runs once.
// Threads: all methods may be called concurrently, but for Start.
class OpenPartialRun {
 public:
  // `plan` was compiled from `graph`, whose Graph may have been moved away.
  OpenPartialRun(PartialGraph graph, std::unique_ptr<Plan> plan, std::string what, int64_t step_id);
  // REQUIRES: the step has ended or was never started.
  ~OpenPartialRun() = default;

  // Called once. `request` brings what all steps of the session get.
  void Start(StepRequest request);

  // Gives feeds, then waits for fetches and, when everything was given and taken, for the step.
  // Sets `ended` when nothing is left to do with this run: all was used, or the step has failed.
  // Nothing is used up when the arguments are wrong.
  Result<std::vector<Tensor>> Run(std::span<const std::pair<OutputRef, Tensor>> feeds,
                                  std::span<const OutputRef> fetches, const RunOptions& options,
                                  StepTable* steps, bool* ended);
  // Cancels the step.
  void Cancel(const Status& why) { step_.cancellation.Cancel(why); }
  void WaitForEnd();
  std::string DebugString() const;

 private:
  // One edge and what became of it.
  struct Fetch {
    bool taken = false;
    bool settled = false;
    Status status;
    Tensor value;
  };

  Status Claim(std::span<const std::pair<OutputRef, Tensor>> feeds,
               std::span<const OutputRef> fetches, std::vector<int>* feed_indices,
               std::vector<int>* fetch_indices);
  Status CheckFeed(OutputRef ref, const Tensor& value, const std::vector<uint8_t>& given,
                   int* index) const;
  Status CheckFetch(OutputRef ref, const std::vector<uint8_t>& given,
                    const std::vector<int>& claimed, int* index) const REQUIRES_LOCK(mu_);
  // The step counts as in flight, and can stall, while somebody waits for it.
  Status EnterTable(StepTable* steps);
  void LeaveTable(StepTable* steps);
  Status Await(const std::vector<int>& fetches, const RunOptions& options);
  bool Settled(const std::vector<int>& fetches) const REQUIRES_LOCK(mu_);
  bool AllUsed() const REQUIRES_LOCK(mu_);
  void Fetched(int index, const Status& status, Tensor value, bool is_dead);
  void StepEnded(const Status& status);

  const PartialGraph edges_;
  const std::unique_ptr<Plan> plan_;
  const std::string what_;
  const std::unique_ptr<Rendezvous> rendezvous_ = MakeLocalRendezvous();
  ActiveStep step_;

  mutable Mutex mu_;
  CondVar changed_;
  std::vector<uint8_t> given_ GUARDED_BY(mu_);  // per feed
  std::vector<Fetch> fetches_ GUARDED_BY(mu_);
  bool ended_ GUARDED_BY(mu_) = false;
  Status status_ GUARDED_BY(mu_);  // of the step that has ended

  // Apart from mu_: a table that is closed calls back into the step with its own lock held.
  Mutex callers_mu_;
  int callers_ GUARDED_BY(callers_mu_) = 0;  // in Run; while there are some the step is in a table
};

// The partial runs of a session by handle.
// Threads: all methods may be called concurrently.
class PartialRunTable {
 public:
  // FailedPrecondition when closed.
  Result<PartialRunHandle> Add(std::shared_ptr<OpenPartialRun> run);
  // InvalidArgument when there is none of that handle.
  Result<std::shared_ptr<OpenPartialRun>> Find(PartialRunHandle handle) const;
  void Remove(PartialRunHandle handle);
  // Cancels the step of that handle, waits for it and forgets it.
  Status Abandon(PartialRunHandle handle, const Status& why);
  // The same for all; refuses new ones.
  void Close(const Status& why);
  // One line a run.
  std::string DebugString() const;

 private:
  mutable Mutex mu_;
  std::map<PartialRunHandle, std::shared_ptr<OpenPartialRun>> runs_ GUARDED_BY(mu_);
  PartialRunHandle next_ GUARDED_BY(mu_) = 1;
  bool closed_ GUARDED_BY(mu_) = false;
};

}  // namespace penstock
