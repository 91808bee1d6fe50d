#pragma once

#include <memory>
#include <string>

#include "penstock/ops/shared_state.h"
#include "penstock/ops/state/accumulator.h"
#include "penstock/ops/state/named_state.h"

// The kernels that accumulators of dense and of sparse gradients share.

namespace penstock::ops {

// Why an accumulator of that name cannot be the one that `wanted` describes; OK when it can.
Status CheckSameAccumulator(const AccumulatorSpec& held, const AccumulatorSpec& wanted);

// Gives out the handle of an accumulator.
template <class A>
class AccumulatorKernel final : public Kernel {
 public:
  AccumulatorKernel(std::string container, const AccumulatorSpec& spec,
                    const AccumulatorBlocks& blocks)
      : state_(
            std::move(container), spec.name, A::kTypeName,
            [spec, blocks] { return std::make_shared<A>(spec, blocks.add, blocks.divide); },
            [spec](const A& held) { return CheckSameAccumulator(held.spec(), spec); }) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(Tensor handle, state_.GetHandle(context));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  SharedState<A> state_;
};

// Scalar input i. TensorFlow's words when it is none.
template <class T>
Result<T> ScalarArgument(KernelContext& context, int i, std::string_view name) {
  const Tensor& tensor = context.input(i);
  if (!tensor.shape().IsScalar()) {
    return InvalidArgument("Argument {} must be scalar, but had bad shape {}", name,
                           tensor.shape());
  }
  return tensor.scalar<T>();
}

Status CheckGradientType(const Accumulator& accumulator, DType dtype);

// Waits for gradients.
template <class A>
class TakeGradientKernel final : public Kernel {
 public:
  explicit TakeGradientKernel(DType dtype) : dtype_(dtype) {}
  Status Compute(KernelContext&) override { return Internal("a TakeGradient waits"); }
  bool IsAsync() const override { return true; }
  void ComputeAsync(KernelContext& context, std::function<void(Status)> done) override {
    const Status status = Begin(context, done);
    if (!status.ok()) done(status);
  }

 private:
  // When this fails, `done` was not called and will not be.
  Status Begin(KernelContext& context, const std::function<void(Status)>& done) const {
    TRY_ASSIGN(const std::shared_ptr<A> accumulator, FindNamedState<A>(context, context.input(0)));
    TRY(CheckGradientType(*accumulator, dtype_));
    TRY_ASSIGN(const int32_t required, ScalarArgument<int32_t>(context, 1, "num_required"));
    accumulator->Take(context, required, done);
    return OkStatus();
  }

  const DType dtype_;
};

}  // namespace penstock::ops
