#pragma once

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/io/event_file.h"
#include "penstock/train/summary/summary_writer.h"

namespace penstock {

// Events on their way to a file: a thread takes them from memory when they have waited long enough
// or are many.
// Threads: all methods may be called concurrently.
class SummaryWriter::Queue {
 public:
  Queue(std::string folder, const SummaryWriterOptions& options, io::EventFile file);
  ~Queue();

  // Waits while there is too much to write. The first error, where errors are to be thrown.
  Status Add(io::Event event);
  // Returns when everything added before is written or lost.
  Status Flush();
  std::string path() const;
  int64_t num_lost() const;

 private:
  // More than this is written at once; more than kFullBytes makes Add wait.
  static constexpr size_t kManyBytes = size_t{1} << 20;
  static constexpr size_t kFullBytes = size_t{64} << 20;

  void WriteUntilStopped();
  bool IsDue() const REQUIRES_LOCK(mu_);
  void WaitUntilDue() REQUIRES_LOCK(mu_);
  Status Write(const std::vector<io::Event>& events);
  void Tell(const Status& status, size_t num_events) REQUIRES_LOCK(mu_);
  Status ErrorToThrow() const REQUIRES_LOCK(mu_);

  // Constant after construction.
  const std::string folder_;
  const SummaryWriterOptions options_;
  // The thread's alone.
  std::unique_ptr<io::EventFile> file_;  // null after an error: a new one is due

  mutable Mutex mu_;
  CondVar changed_;
  std::vector<io::Event> pending_ GUARDED_BY(mu_);
  size_t pending_bytes_ GUARDED_BY(mu_) = 0;
  std::chrono::steady_clock::time_point oldest_ GUARDED_BY(mu_);  // of what is pending
  bool flush_ GUARDED_BY(mu_) = false;
  bool writing_ GUARDED_BY(mu_) = false;
  bool stop_ GUARDED_BY(mu_) = false;
  std::string path_ GUARDED_BY(mu_);
  int64_t lost_ GUARDED_BY(mu_) = 0;
  Status error_ GUARDED_BY(mu_);  // of the last attempt
  std::thread thread_;
};

}  // namespace penstock
