#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/core/status.h"

namespace penstock {

// Lets a group of threads stop together, and reports the first error among them.
//
//   Coordinator coordinator;
//   coordinator.Start("reader", [&] { while (!coordinator.ShouldStop()) ...; });
//   ...
//   coordinator.RequestStop();
//   coordinator.Join();  // throws what a thread threw
//
// The end of input (OutOfRange) and a cancelled wait (Cancelled) are clean reasons to stop, not
// errors. Threads: all methods may be called concurrently; Join not by one of the threads.
class Coordinator {
 public:
  Coordinator() = default;
  // Asks all threads to stop and waits for them, however long it takes: none is left behind.
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Runs `body` on a thread of its own. What it throws stops the others: penstock::Error by its
  // status, any other exception as Internal.
  void Start(std::string name, std::function<void()> body);
  // Asks all threads to stop. The first error that is no clean reason is kept for Join.
  void RequestStop(const Status& why = OkStatus());
  bool ShouldStop() const;
  // False when `limit` passed before a stop was asked for.
  bool WaitForStop(std::chrono::milliseconds limit) const;
  // Calls `callback` once, on the thread that asks to stop; at once when that was done already.
  void OnStop(std::function<void()> callback);

  // Waits until all threads have ended; once a stop was asked for, at most `grace` longer. Throws
  // the first error of a thread, else DeadlineExceeded with the names of those that still run. May
  // be called again.
  void Join(std::chrono::milliseconds grace = std::chrono::minutes(2));

 private:
  struct Member {
    std::string name;
    std::thread thread;
    bool ended = false;
  };

  void Run(Member* member, const std::function<void()>& body);
  bool AllEnded() const REQUIRES_LOCK(mu_);

  mutable Mutex mu_;
  mutable CondVar changed_;
  std::list<Member> members_ GUARDED_BY(mu_);
  std::vector<std::function<void()>> on_stop_ GUARDED_BY(mu_);
  bool stop_ GUARDED_BY(mu_) = false;
  Status error_ GUARDED_BY(mu_);
};

// True for the codes that end a queue or a wait as they should: OutOfRange and Cancelled.
bool IsCleanStop(Code code);

}  // namespace penstock
