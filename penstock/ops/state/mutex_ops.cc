#include "penstock/ops/state/mutex_ops.h"

#include "penstock/ops/shared_state.h"
#include "penstock/ops/state/named_state.h"

namespace penstock::ops {

// What a lock holds.
class HeldLock final : public Variant::Value {
 public:
  explicit HeldLock(std::shared_ptr<StateMutex> mutex) : mutex_(std::move(mutex)) {}
  ~HeldLock() override { mutex_->Release(); }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  std::string TypeName() const override { return "MutexLock"; }

 private:
  const std::shared_ptr<StateMutex> mutex_;
};

void StateMutex::Acquire(KernelContext& context, const std::function<void(Status)>& done) {
  bool waits = false;
  {
    MutexLock lock(mu_);
    waits = waiters_.Add(context, 1, done,
                         [self = shared_from_this()](uint64_t id) { self->Cancel(id); });
  }
  if (!waits) {
    done(Cancelled("Lock acquisition cancelled."));
    return;
  }
  HandOut();
}

void StateMutex::Release() {
  {
    MutexLock lock(mu_);
    held_ = false;
  }
  HandOut();
}

void StateMutex::HandOut() {
  for (;;) {
    QueuedNode next;
    {
      MutexLock lock(mu_);
      // Who got the mutex may be through with it before its callback returns. The loop that called
      // it goes on then: a long queue must not become a deep stack.
      if (handing_out_ || held_ || waiters_.empty()) return;
      handing_out_ = true;
      held_ = true;
      next = waiters_.PopFront();
    }
    Status status;
    {
      const Variant held(std::make_shared<HeldLock>(shared_from_this()));
      Result<Tensor> tensor = next.context->Allocate(DType::kVariant, Shape());
      if (tensor.ok()) {
        *tensor->mutable_data<Variant>() = held;
        next.context->SetOutput(0, *std::move(tensor));
      }
      status = tensor.status();
    }
    next.Finish(status);
    MutexLock lock(mu_);
    handing_out_ = false;
  }
}

void StateMutex::Cancel(uint64_t id) {
  std::optional<QueuedNode> waiter;
  {
    MutexLock lock(mu_);
    waiter = waiters_.Remove(id);
  }
  if (waiter) waiter->done(Cancelled("Lock acquisition cancelled."));
}

size_t StateMutex::num_waiting() const {
  MutexLock lock(mu_);
  return waiters_.size();
}

std::string StateMutex::DebugString() const {
  MutexLock lock(mu_);
  return Format("mutex, {}, {} waiting", held_ ? "held" : "free", waiters_.size());
}

namespace {

class MutexKernel final : public Kernel {
 public:
  MutexKernel(const MutexV2& op, const std::string& node)
      : state_(op.container, op.shared_name.empty() ? node : op.shared_name, StateMutex::kTypeName,
               [] { return std::make_shared<StateMutex>(); }) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(Tensor handle, state_.GetHandle(context));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  SharedState<StateMutex> state_;
};

class MutexLockKernel final : public Kernel {
 public:
  Status Compute(KernelContext&) override { return Internal("MutexLock waits"); }
  bool IsAsync() const override { return true; }
  void ComputeAsync(KernelContext& context, std::function<void(Status)> done) override {
    const Result<std::shared_ptr<StateMutex>> mutex =
        FindNamedState<StateMutex>(context, context.input(0));
    if (!mutex.ok()) {
      done(mutex.status());
      return;
    }
    (*mutex)->Acquire(context, done);
  }
};

}  // namespace

Result<std::unique_ptr<Kernel>> MutexV2::MakeCpuKernel(const KernelRequest& request) {
  const auto& op = static_cast<const op_internal::Decoded<MutexV2>*>(request.op.get())->op;
  return std::unique_ptr<Kernel>(std::make_unique<MutexKernel>(op, request.node));
}

Result<std::unique_ptr<Kernel>> MutexLockOp::MakeCpuKernel(const KernelRequest&) {
  return std::unique_ptr<Kernel>(std::make_unique<MutexLockKernel>());
}

Status ConsumeMutexLock::ComputeCpu(CpuContext&, const Tensor& mutex_lock) const {
  TRY(CheckScalar(mutex_lock.shape(), "mutex_lock"));
  const Variant& variant = mutex_lock.scalar<Variant>();
  if (variant.As<HeldLock>() == nullptr) {
    return InvalidArgument(
        "Expected input to contain a SharedLockReleaser object, but saw variant: '{}'.",
        variant.value() == nullptr ? "nothing" : variant.value()->TypeName());
  }
  const int64_t uses = variant.value().use_count();
  if (uses != 1) {
    return InvalidArgument("Expected use count of lock to be 1, but saw: {}", uses);
  }
  return OkStatus();
}

void RegisterMutexes(Registrar& registrar) {
  registrar.AddAll<MutexV2, MutexLockOp, ConsumeMutexLock>();
}

}  // namespace penstock::ops
