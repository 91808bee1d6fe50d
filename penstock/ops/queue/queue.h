#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/ops/queue/element_store.h"
#include "penstock/ops/queue/waiters.h"

namespace penstock::ops {

enum class QueueKind { kFifo, kShuffle, kPadding, kPriority };
// "FIFOQueue" and so on.
std::string_view ToString(QueueKind kind);

// What the node that makes a queue says of it.
struct QueueSpec {
  QueueKind kind = QueueKind::kFifo;
  std::string name;               // as messages show it
  std::vector<DType> dtypes;      // of the components; those of a kPriority begin with int64
  std::vector<Shape> shapes;      // of the components; none: any
  int64_t capacity = -1;          // negative: no bound
  int64_t min_after_dequeue = 0;  // kShuffle
  int64_t seed = 0;               // kShuffle
  int64_t seed2 = 0;              // kShuffle

  int num_components() const { return static_cast<int>(dtypes.size()); }
  // InvalidArgument when no queue can be like this.
  Status Check() const;
};

// Elements on their way from steps that enqueue to steps that dequeue. Who finds no space or too
// few elements waits; both sides are served in the order they came. What a batch has taken when it
// is cancelled, or when the queue is closed under it, goes back: no element is lost.
// Threads: all methods may be called concurrently. `done` is called exactly once, without a lock
// held, perhaps before the method returns; the context must last until then.
class Queue final : public Waitable {
 public:
  // REQUIRES: spec.Check() is OK.
  explicit Queue(QueueSpec spec);

  const QueueSpec& spec() const { return spec_; }
  // InvalidArgument, naming both, when a node wants another queue under this name.
  Status CheckSame(const QueueSpec& wanted) const;
  // InvalidArgument when `tuple` is no element, or no batch of elements, of this queue.
  Status CheckTuple(std::span<Tensor* const> tuple) const;
  Status CheckBatch(std::span<Tensor* const> batch) const;
  // InvalidArgument when elements of this queue cannot be stacked.
  Status CheckStackable() const;

  // Moves one element in. REQUIRES: CheckTuple.
  void Enqueue(KernelContext& context, std::span<Tensor> tuple, Done done);
  // The same for several, component by component within each. They go in as space allows.
  void EnqueueMany(KernelContext& context, std::vector<Tensor> elements, Done done);
  // Sets the context's outputs to the next element.
  void Dequeue(KernelContext& context, Done done);
  // Sets them to a batch of n; `up_to`: of what is left when the queue is closed, if not nothing.
  // REQUIRES: CheckStackable, n >= 0.
  void DequeueMany(KernelContext& context, int64_t n, bool up_to, Done done);
  // Refuses new elements once those that wait to come in are in, or at once if they are cancelled.
  void Close(KernelContext& context, bool cancel_pending, Done done);

  // For a resource that is made of a queue and holds a lock of its own: puts elements in whatever
  // the capacity, or closes, at once. Who is served by it goes to `served`; the caller calls Finish
  // without its lock.
  void Insert(std::vector<Tensor> elements, WaiterList& served);
  void CloseNow(WaiterList& served);
  using Waitable::Finish;

  int64_t size() const;
  bool is_closed() const;
  std::string DebugString() const override;
  size_t MemoryBytes() const override;

 private:
  class EnqueueWaiter;
  class DequeueWaiter;
  class BatchWaiter;
  class CloseWaiter;

  bool HasSpace() const REQUIRES_LOCK(mu_) {
    return spec_.capacity < 0 || store_->size() < spec_.capacity;
  }
  // How many elements may leave now.
  int64_t Available() const REQUIRES_LOCK(mu_) {
    return store_->size() - (closed_ ? 0 : spec_.min_after_dequeue);
  }
  Status ClosedToEnqueue() const;
  Status TooFew(int64_t requested) const REQUIRES_LOCK(mu_);

  const QueueSpec spec_;
  WaiterList enqueuers_ GUARDED_BY(mu_);
  WaiterList dequeuers_ GUARDED_BY(mu_);
  const std::unique_ptr<ElementStore> store_;  // guarded by mu_
  bool closed_ GUARDED_BY(mu_) = false;
};

}  // namespace penstock::ops
