#include "penstock/ops/collections/stacks.h"

#include <atomic>
#include <cstdint>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/ops/collections/handles.h"
#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

constexpr char kKind[] = "Stack";

// Threads: all methods may be called concurrently.
class TensorStack final : public Resource {
 public:
  TensorStack(std::string name, DType dtype, int64_t max_size)
      : name_(std::move(name)), dtype_(dtype), max_size_(max_size) {}

  DType dtype() const { return dtype_; }

  Status Push(Tensor value) {
    MutexLock lock(mu_);
    TRY(CheckOpen());
    if (static_cast<int64_t>(values_.size()) >= max_size_) {
      return InvalidArgument("Stack[{}] overflowed its max_size ({})", name_, max_size_);
    }
    values_.push_back(std::move(value));
    return OkStatus();
  }
  Result<Tensor> Pop() {
    MutexLock lock(mu_);
    TRY(CheckOpen());
    if (values_.empty()) return InvalidArgument("Stack[{}] is empty when calling Pop().", name_);
    Tensor value = std::move(values_.back());
    values_.pop_back();
    return value;
  }
  void Close() {
    MutexLock lock(mu_);
    values_.clear();
    closed_ = true;
  }

  std::string DebugString() const override {
    MutexLock lock(mu_);
    return Format("Stack {} of {} {}", name_, values_.size(), dtype_);
  }
  size_t MemoryBytes() const override {
    MutexLock lock(mu_);
    size_t bytes = values_.size() * sizeof(Tensor);
    for (const Tensor& value : values_) bytes += value.bytes();
    return bytes;
  }

 private:
  Status CheckOpen() const REQUIRES_LOCK(mu_) {
    if (!closed_) return OkStatus();
    return InvalidArgument("Stack[{}] has already been closed.", name_);
  }

  // Constant after construction.
  const std::string name_;
  const DType dtype_;
  const int64_t max_size_;
  mutable Mutex mu_;
  std::vector<Tensor> values_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
};

class StackKernel final : public Kernel {
 public:
  StackKernel(std::string name, DType dtype, bool has_max_size)
      : name_(std::move(name)), dtype_(dtype), has_max_size_(has_max_size) {}

  Status Compute(KernelContext& context) override {
    int64_t max_size = -1;
    if (has_max_size_) {
      if (context.input(0).num_elements() != 1) {
        return InvalidArgument("Stack size must be a scalar, got shape {}",
                               context.input(0).shape());
      }
      max_size = context.input(0).scalar<int32_t>();
    }
    if (max_size < 0) max_size = INT64_MAX;
    std::string name =
        Format("{}_{}_{}", name_, context.step_id(), runs_.fetch_add(1, std::memory_order_relaxed));
    auto stack = std::make_shared<TensorStack>(name, dtype_, max_size);
    TRY_ASSIGN(Tensor handle, MakeHandle(context, "", std::move(name), kKind, std::move(stack)));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  const std::string name_;
  const DType dtype_;
  const bool has_max_size_;
  std::atomic<int64_t> runs_{0};
};

template <class Op>
Result<std::unique_ptr<Kernel>> MakeStackKernel(const KernelRequest& request, bool has_max_size) {
  const Op& op = static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
  return std::unique_ptr<Kernel>(std::make_unique<StackKernel>(
      op.stack_name.empty() ? request.node : op.stack_name, op.elem_type, has_max_size));
}

Result<std::shared_ptr<TensorStack>> FindStack(CpuContext& context, const Tensor& handle) {
  return FindResource<TensorStack>(context, handle, kKind);
}

Status CheckType(const TensorStack& stack, DType dtype) {
  if (stack.dtype() == dtype) return OkStatus();
  return InvalidArgument("Must have type {} but got {}", stack.dtype(), dtype);
}

Status Push(CpuContext& context, const Tensor& handle) {
  TRY_ASSIGN(const std::shared_ptr<TensorStack> stack, FindStack(context, handle));
  TRY(CheckType(*stack, context.input(1).dtype()));
  TRY_ASSIGN(Tensor kept, KeepInput(context, 1));
  TRY(stack->Push(kept));
  context.SetOutput(0, std::move(kept));
  return OkStatus();
}

Status Pop(CpuContext& context, const Tensor& handle, DType dtype) {
  TRY_ASSIGN(const std::shared_ptr<TensorStack> stack, FindStack(context, handle));
  TRY(CheckType(*stack, dtype));
  TRY_ASSIGN(Tensor value, stack->Pop());
  context.SetOutput(0, std::move(value));
  return OkStatus();
}

Status Close(CpuContext& context, const Tensor& handle) {
  TRY_ASSIGN(const std::shared_ptr<TensorStack> stack, FindStack(context, handle));
  stack->Close();
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<Kernel>> StackV2::MakeCpuKernel(const KernelRequest& request) {
  return MakeStackKernel<StackV2>(request, true);
}
Result<std::unique_ptr<Kernel>> StackV1::MakeCpuKernel(const KernelRequest& request) {
  return MakeStackKernel<StackV1>(request, false);
}

Status StackPushV2::ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor&) const {
  return Push(context, handle);
}
Status StackPush::ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor&) const {
  return Push(context, handle);
}
Status StackPopV2::ComputeCpu(CpuContext& context, const Tensor& handle) const {
  return Pop(context, handle, elem_type);
}
Status StackPop::ComputeCpu(CpuContext& context, const Tensor& handle) const {
  return Pop(context, handle, elem_type);
}
Status StackCloseV2::ComputeCpu(CpuContext& context, const Tensor& handle) const {
  return Close(context, handle);
}
Status StackClose::ComputeCpu(CpuContext& context, const Tensor& handle) const {
  return Close(context, handle);
}

void RegisterStacks(Registrar& registrar) {
  registrar.AddAll<StackV2, StackV1, StackPushV2, StackPush, StackPopV2, StackPop, StackCloseV2,
                   StackClose>();
}

}  // namespace penstock::ops
