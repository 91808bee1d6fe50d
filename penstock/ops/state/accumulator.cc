#include "penstock/ops/state/accumulator.h"

#include "penstock/core/log.h"
#include "penstock/kernels/broadcast.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/variable_access.h"

namespace penstock::ops {

int32_t Accumulator::num_accumulated() const {
  MutexLock lock(mu_);
  return static_cast<int32_t>(count_);
}

void Accumulator::SetGlobalStep(int64_t step) {
  MutexLock lock(mu_);
  if (step < step_) {
    Log(LogLevel::kWarning,
        Format("Attempt to set current_global_step_ to smaller value: current_global_step_ = {} >= "
               "{} = new_global_step.",
               step_, step));
  }
  step_ = step;
}

Status Accumulator::Apply(int64_t local_step, FunctionRef<Status()> add) {
  {
    MutexLock lock(mu_);
    if (local_step < step_) return OkStatus();  // too old: dropped without a word
    TRY(add());
    ++count_;
  }
  ServeWaiters();
  return OkStatus();
}

void Accumulator::Take(KernelContext& context, int64_t required,
                       const std::function<void(Status)>& done) {
  if (required <= 0) {
    done(InvalidArgument("Argument num_required must be positive, but was {}", required));
    return;
  }
  bool waits = false;
  {
    MutexLock lock(mu_);
    waits = waiters_.Add(context, required, done,
                         [self = shared_from_this()](uint64_t id) { self->Cancel(id); });
  }
  if (!waits) {
    done(Cancelled("TakeGrad operation was cancelled"));
    return;
  }
  ServeWaiters();
}

void Accumulator::ServeWaiters() {
  for (;;) {
    QueuedNode first;
    Status status;
    {
      MutexLock lock(mu_);
      if (waiters_.empty() || waiters_.front().wants > count_) return;
      first = waiters_.PopFront();
      status = Give(*first.context, count_);
      if (status.ok()) {
        count_ = 0;
        ++step_;
      }
    }
    first.Finish(status);
  }
}

void Accumulator::Cancel(uint64_t id) {
  std::optional<QueuedNode> waiter;
  {
    MutexLock lock(mu_);
    waiter = waiters_.Remove(id);
  }
  if (!waiter) return;
  waiter->done(Cancelled("TakeGrad operation was cancelled"));
  ServeWaiters();  // the one behind it may want less
}

std::string Accumulator::DebugString() const {
  MutexLock lock(mu_);
  return Format("accumulator {} {} of {} gradients, {} waiting", spec_.dtype, spec_.shape, count_,
                waiters_.size());
}

Status Accumulator::AddTo(KernelContext& context, const Tensor& b, Tensor& a) const {
  return UpdateElementwise(context, add_, b, a);
}

Status Accumulator::DivideBy(KernelContext& context, int64_t divisor, Tensor& a) const {
  Tensor scalar(spec_.dtype, Shape());
  TRY(ForDType(spec_.dtype, Types<float, double, half, bfloat16>(), [&]<class T>() {
    *scalar.mutable_data<T>() = T(static_cast<float>(divisor));
    return OkStatus();
  }));
  return UpdateElementwise(context, divide_, scalar, a);
}

Status DenseAccumulator::ApplyGradient(KernelContext& context, int64_t local_step) {
  const Tensor& gradient = context.input(2);
  return Apply(local_step, [&]() REQUIRES_LOCK(mu_) -> Status {
    const Shape& expected = sum_.initialized() ? sum_.shape() : spec().shape;
    if (!expected.IsCompatibleWith(gradient.shape())) {
      return InvalidArgument("Shape mismatch: expected {}, got {}", expected, gradient.shape());
    }
    if (sum_.initialized()) return AddTo(context, gradient, sum_);
    TRY_ASSIGN(sum_, KeepInput(context, 2));
    return OkStatus();
  });
}

Status DenseAccumulator::Give(KernelContext& context, int64_t count) {
  if (spec().averages) TRY(DivideBy(context, count, sum_));
  context.SetOutput(0, std::exchange(sum_, Tensor()));
  return OkStatus();
}

size_t DenseAccumulator::MemoryBytes() const {
  MutexLock lock(mu_);
  return sum_.initialized() ? sum_.bytes() : 0;
}

Result<AccumulatorBlocks> FindAccumulatorBlocks(DType dtype) {
  const ElementwiseBlock* add = StandardElementwise().Find("AddV2", dtype);
  const ElementwiseBlock* divide = StandardElementwise().Find("RealDiv", dtype);
  const bool known = dtype == DType::kFloat || dtype == DType::kDouble || dtype == DType::kHalf ||
                     dtype == DType::kBfloat16;
  if (!known || add == nullptr || divide == nullptr) {
    return Unimplemented("no CPU kernel accumulates gradients of {}", dtype);
  }
  return AccumulatorBlocks{*add, *divide};
}

}  // namespace penstock::ops
