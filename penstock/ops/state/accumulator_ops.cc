#include "penstock/ops/state/accumulator_ops.h"

#include "penstock/ops/state/accumulator_kernels.h"

namespace penstock::ops {

Status CheckSameAccumulator(const AccumulatorSpec& held, const AccumulatorSpec& wanted) {
  if (held.dtype != wanted.dtype) {
    return InvalidArgument("Shared accumulator '{}' has dtype {}, but {} was asked for",
                           Printable(held.name), held.dtype, wanted.dtype);
  }
  if (!(held.shape == wanted.shape)) {
    return InvalidArgument("Shared accumulator '{}' has shape {}, but {} was asked for",
                           Printable(held.name), held.shape, wanted.shape);
  }
  if (held.averages != wanted.averages) {
    return InvalidArgument("Shared accumulator '{}' has reduction type {}, but {} was asked for",
                           Printable(held.name), held.averages ? "MEAN" : "SUM",
                           wanted.averages ? "MEAN" : "SUM");
  }
  return OkStatus();
}

Status CheckGradientType(const Accumulator& accumulator, DType dtype) {
  if (accumulator.spec().dtype == dtype) return OkStatus();
  return InvalidArgument("accumulator '{}' must hold {}, got one that holds {}",
                         Printable(accumulator.spec().name), dtype, accumulator.spec().dtype);
}

namespace {

class ApplyGradientKernel final : public Kernel {
 public:
  explicit ApplyGradientKernel(DType dtype) : dtype_(dtype) {}
  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<DenseAccumulator> accumulator,
               FindNamedState<DenseAccumulator>(context, context.input(0)));
    TRY(CheckGradientType(*accumulator, dtype_));
    TRY_ASSIGN(const int64_t step, ScalarArgument<int64_t>(context, 1, "local_step"));
    return accumulator->ApplyGradient(context, step);
  }

 private:
  const DType dtype_;
};

// Of accumulators of either kind.
class SetGlobalStepKernel final : public Kernel {
 public:
  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<Accumulator> accumulator,
               FindNamedState<Accumulator>(context, context.input(0)));
    TRY_ASSIGN(const int64_t step, ScalarArgument<int64_t>(context, 1, "new_global_step"));
    accumulator->SetGlobalStep(step);
    return OkStatus();
  }
};

class NumAccumulatedKernel final : public Kernel {
 public:
  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<Accumulator> accumulator,
               FindNamedState<Accumulator>(context, context.input(0)));
    TRY(context.AllocateOutput(0, DType::kInt32, Shape()));
    *context.output(0).mutable_data<int32_t>() = accumulator->num_accumulated();
    return OkStatus();
  }
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeDenseAccumulatorKernel(const KernelRequest& request,
                                                           DType dtype, const Shape& shape,
                                                           const std::string& container,
                                                           const std::string& shared_name,
                                                           const std::string& reduction_type) {
  TRY_ASSIGN(const AccumulatorBlocks blocks, FindAccumulatorBlocks(dtype));
  const AccumulatorSpec spec{shared_name.empty() ? request.node : shared_name, dtype, shape,
                             reduction_type == "MEAN"};
  return std::unique_ptr<Kernel>(
      std::make_unique<AccumulatorKernel<DenseAccumulator>>(container, spec, blocks));
}

Result<std::unique_ptr<Kernel>> MakeApplyGradientKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<ApplyGradientKernel>(request.inputs[2]));
}

Result<std::unique_ptr<Kernel>> MakeTakeGradientKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      std::make_unique<TakeGradientKernel<DenseAccumulator>>(request.outputs[0]));
}

Result<std::unique_ptr<Kernel>> MakeSetGlobalStepKernel(const KernelRequest&) {
  return std::unique_ptr<Kernel>(std::make_unique<SetGlobalStepKernel>());
}

Result<std::unique_ptr<Kernel>> MakeNumAccumulatedKernel(const KernelRequest&) {
  return std::unique_ptr<Kernel>(std::make_unique<NumAccumulatedKernel>());
}

void RegisterAccumulators(Registrar& registrar) {
  registrar.AddAll<ConditionalAccumulator, AccumulatorApplyGradient, AccumulatorTakeGradient,
                   AccumulatorSetGlobalStep, AccumulatorNumAccumulated>();
  registrar.AddAll<ResourceConditionalAccumulator, ResourceAccumulatorApplyGradient,
                   ResourceAccumulatorTakeGradient, ResourceAccumulatorSetGlobalStep,
                   ResourceAccumulatorNumAccumulated>();
}

}  // namespace penstock::ops
