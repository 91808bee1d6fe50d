#pragma once

#include <memory>
#include <string>
#include <tuple>

#include "penstock/core/mutex.h"
#include "penstock/core/resource.h"
#include "penstock/ops/op_kernel.h"
#include "penstock/ops/state/node_queue.h"

// Critical sections between nodes. A lock is a value: it is released when its last copy goes, so
// also when its step fails.

namespace penstock::ops {

// A mutex that nodes wait for without holding a thread, in order of arrival.
// Threads: all methods may be called concurrently. Callbacks run without the lock.
class StateMutex final : public Resource, public std::enable_shared_from_this<StateMutex> {
 public:
  static constexpr char kTypeName[] = "Mutex";

  // Calls `done` with output 0 set to a lock, or with why the step was cancelled.
  void Acquire(KernelContext& context, const std::function<void(Status)>& done);
  // Nodes that wait.
  size_t num_waiting() const;
  std::string DebugString() const override;

 private:
  friend class HeldLock;

  void Release();
  // Hands the mutex to those who wait while it is free.
  void HandOut();
  void Cancel(uint64_t id);

  mutable Mutex mu_;
  bool held_ GUARDED_BY(mu_) = false;
  bool handing_out_ GUARDED_BY(mu_) = false;
  NodeQueue waiters_ GUARDED_BY(mu_);
};

struct MutexV2 {
  static constexpr auto kName = "MutexV2";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  std::string container;
  std::string shared_name;
  using Sig = Signature<Out<"resource", ResourceHandle>>;
  static constexpr std::tuple kAttrs{Field{"container", &MutexV2::container},
                                     Field{"shared_name", &MutexV2::shared_name}};

  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct MutexLockOp {
  static constexpr auto kName = "MutexLock";
  static constexpr bool kStateful = true;
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"mutex", ResourceHandle>, Out<"mutex_lock", Variant>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Keeps a lock until the nodes before it have run.
struct ConsumeMutexLock {
  static constexpr auto kName = "ConsumeMutexLock";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"mutex_lock", Variant>>;

  Status ComputeCpu(CpuContext& context, const Tensor& mutex_lock) const;
};

}  // namespace penstock::ops
