#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/core/resource.h"
#include "penstock/device/kernel.h"
#include "penstock/ops/queue/queue.h"
#include "penstock/ops/readers/work_reader.h"

namespace penstock::ops {

// A reader that lives between steps: it takes work units from a queue and gives their records one
// after the other. Calls are served in turn; one that waits for the queue holds no thread.
// Threads: all methods may be called concurrently. REQUIRES: owned by a shared_ptr.
class ReaderState final : public Resource, public std::enable_shared_from_this<ReaderState> {
 public:
  explicit ReaderState(WorkOpener open) : open_(std::move(open)) {}

  struct Records {
    std::vector<std::string> keys, values;
  };
  // Reads one record, or up to `limit` where `many`: fewer when the queue is closed, but at least
  // one. `context`, whose first output is used on the way, and `queue` must live until `done`.
  void Read(KernelContext& context, Queue& queue, int64_t limit,
            std::function<void(Result<Records>)> done);

  int64_t records_produced() const;
  int64_t units_completed() const;
  // As new, but for the call that is being served.
  void Reset();
  std::string DebugString() const override { return "Reader"; }

 private:
  class Call;

  // Starts the call when it is its turn.
  void Enter(std::shared_ptr<Call> call);
  void Leave();

  const WorkOpener open_;
  mutable Mutex mu_;
  std::deque<std::shared_ptr<Call>> line_ GUARDED_BY(mu_);  // the first is being served
  std::shared_ptr<WorkReader> work_ GUARDED_BY(mu_);        // null: none is open
  int64_t records_produced_ GUARDED_BY(mu_) = 0;
  int64_t units_completed_ GUARDED_BY(mu_) = 0;
};

}  // namespace penstock::ops
