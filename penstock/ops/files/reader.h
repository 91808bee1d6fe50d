#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/core/resource.h"
#include "penstock/ops/files/record_source.h"
#include "penstock/ops/queue/queue.h"

namespace penstock::ops {

// Records of work units that come from a queue. Reads are served in the order they came; one that
// waits for the queue holds no thread, and those behind it wait with it.
// Threads: all methods may be called concurrently. `done` is called exactly once, without a lock
// held, perhaps before the method returns; the context must last until then.
class Reader final : public Resource, public std::enable_shared_from_this<Reader> {
 public:
  static constexpr char kKind[] = "reader";

  Reader(std::string name, MakeSource make);

  // Reads one record into the context's outputs 0 (key) and 1 (value).
  void Read(KernelContext& context, std::shared_ptr<Queue> queue, Done done);
  // Reads at most n records, at least one, of one work unit. REQUIRES: n > 0.
  void ReadUpTo(KernelContext& context, std::shared_ptr<Queue> queue, int64_t n, Done done);

  int64_t NumRecordsProduced() const;
  int64_t NumWorkUnitsCompleted() const;
  // Forgets the work at hand.
  void Reset();
  // TensorFlow's ReaderBaseState (1: work_started 2: work_finished 3: num_records_produced
  // 4: current_work) and where in the work the reader is (101: offset 102: record).
  std::string SerializeState() const;
  Status RestoreState(std::string_view state);

  std::string DebugString() const override { return "reader " + name_; }
  size_t MemoryBytes() const override { return 0; }

 private:
  struct Request {
    KernelContext* context;
    std::shared_ptr<Queue> queue;
    int64_t most;
    bool single;
    Done done;
    std::vector<std::string> keys, values;
  };

  void Enter(std::unique_ptr<Request> request);
  // Serves requests until there are none or one waits for its queue. REQUIRES: the caller is the
  // one who serves (serving_).
  void Serve();
  // Reads what the work at hand has. False when a new work unit is needed.
  Result<bool> Advance(Request& request);
  // Begins with the work unit that was dequeued into the context's output 0.
  Status Begin(Request& request);
  // Goes on with the first request once its queue has answered.
  void Resume(Request& request, Status status);
  // Ends the first request.
  void End(Status status);
  static Status Deliver(Request& request);

  const std::string name_;
  const std::unique_ptr<RecordSource> source_;  // guarded by mu_
  mutable Mutex mu_;
  std::deque<std::unique_ptr<Request>> requests_ GUARDED_BY(mu_);
  bool serving_ GUARDED_BY(mu_) = false;
  bool working_ GUARDED_BY(mu_) = false;  // there is work at hand
  std::string work_ GUARDED_BY(mu_);
  int64_t started_ GUARDED_BY(mu_) = 0;
  int64_t finished_ GUARDED_BY(mu_) = 0;
  int64_t produced_ GUARDED_BY(mu_) = 0;
};

}  // namespace penstock::ops
