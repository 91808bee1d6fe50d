#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "penstock/core/cancellation.h"
#include "penstock/core/mutex.h"
#include "penstock/core/resource.h"
#include "penstock/core/status.h"
#include "penstock/device/kernel.h"

// What queues, barriers and stages share: calls that cannot be served yet wait in lines, hold no
// thread, and leave when they are served or when their step is cancelled.

namespace penstock::ops {

using Done = std::function<void(Status)>;

// Calls of one step that wait for one resource: they are cancelled together, so one callback does
// for all of them.
struct CancelGroup {
  Cancellation* cancellation = nullptr;
  Cancellation::Token token = 0;
  int64_t members = 0;
};

// A call on its way: owned by the line that it waits in, or by who serves it.
// Threads: belongs to the holder of the resource's lock while it waits, then to one thread.
class Waiter {
 public:
  enum class Progress { kStuck, kMoved, kServed };

  Waiter(KernelContext& context, Done done) : context_(context), done_(std::move(done)) {}
  virtual ~Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  KernelContext& context() { return context_; }
  // Ends the call with an error.
  Progress Fail(Status status) {
    status_ = std::move(status);
    return Progress::kServed;
  }

  // Does what can be done now. kMoved: only a part, but others may go on for it. REQUIRES: the
  // resource's lock is held, here and in GiveBack.
  virtual Progress Try() = 0;
  // Returns what was taken so far: the call was cancelled.
  virtual void GiveBack() {}
  // Writes the outputs. Called without the lock, for a call that was served.
  virtual Status Deliver() { return OkStatus(); }

 private:
  friend class WaiterList;
  friend class Waitable;

  KernelContext& context_;
  Done done_;
  Status status_;
  CancelGroup* group_ = nullptr;
  std::shared_ptr<Resource> resource_;  // stays while somebody waits for it
  Waiter* next_ = nullptr;
  Waiter* previous_ = nullptr;
};

// A line of waiters that it owns. Threads: as whatever guards it.
class WaiterList {
 public:
  // In order: who stands first is served first, and the others wait for that one. Else anyone who
  // can be served is.
  explicit WaiterList(bool in_order = true) : in_order_(in_order) {}
  ~WaiterList();
  WaiterList(const WaiterList&) = delete;
  WaiterList& operator=(const WaiterList&) = delete;

  bool empty() const { return first_ == nullptr; }
  int64_t size() const { return size_; }
  bool in_order() const { return in_order_; }
  Waiter* first() const { return first_; }
  static Waiter* Next(const Waiter& waiter) { return waiter.next_; }
  void PushBack(std::unique_ptr<Waiter> waiter);
  // REQUIRES: it is in this list.
  std::unique_ptr<Waiter> Remove(Waiter* waiter);

 private:
  const bool in_order_;
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  int64_t size_ = 0;
};

// A resource that calls wait for. Threads: all methods may be called concurrently; `done` is never
// called with mu_ held. REQUIRES: owned by a shared_ptr.
class Waitable : public Resource, public std::enable_shared_from_this<Waitable> {
 protected:
  // `lists`: the lines, in the order they are tried; members of the derived class.
  explicit Waitable(std::initializer_list<WaiterList*> lists) : lists_(lists) {}

  // Serves the call now, or lets it wait in `list`, one of the lines. Fails it when its step was
  // cancelled.
  void Start(std::unique_ptr<Waiter> waiter, WaiterList* list);
  // Serves everyone who can be served, into `served`; `Finish` ends those calls.
  void Serve(WaiterList& served) REQUIRES_LOCK(mu_);
  // Fails everyone in `list` with `why`.
  void FailAll(WaiterList& list, const Status& why, WaiterList& served) REQUIRES_LOCK(mu_);
  static void Finish(WaiterList& served);

  mutable Mutex mu_;

 private:
  bool ServeList(WaiterList& list, WaiterList& served) REQUIRES_LOCK(mu_);
  // Moves a call that waits no longer from `list` to `served`.
  void Release(Waiter* waiter, WaiterList& list, WaiterList& served) REQUIRES_LOCK(mu_);
  Status JoinGroup(Waiter& waiter) REQUIRES_LOCK(mu_);
  void LeaveGroup(Waiter& waiter) REQUIRES_LOCK(mu_);
  void CancelGroupOf(Cancellation* cancellation);

  const std::vector<WaiterList*> lists_;
  std::unordered_map<Cancellation*, CancelGroup> groups_ GUARDED_BY(mu_);
};

// OK, or why the step was cancelled.
Status CheckNotCancelled(const KernelContext& context);

// A kernel whose call may wait. Threads: as Kernel.
class WaitingKernel : public Kernel {
 public:
  Status Compute(KernelContext&) final { return Internal("a kernel that waits is not computed"); }
  bool IsAsync() const final { return true; }
  void ComputeAsync(KernelContext& context, Done done) final {
    Status status = CheckNotCancelled(context);
    if (status.ok()) status = Begin(context, done);
    if (!status.ok()) done(std::move(status));
  }

 protected:
  // Starts the call and takes `done` over; with an error, leaves it alone.
  virtual Status Begin(KernelContext& context, Done& done) = 0;
};

}  // namespace penstock::ops
