#include "penstock/ops/state/sparse_accumulator_ops.h"

#include "penstock/ops/state/accumulator_kernels.h"

namespace penstock::ops {
namespace {

class SparseApplyKernel final : public Kernel {
 public:
  SparseApplyKernel(DType dtype, bool has_known_shape)
      : dtype_(dtype), has_known_shape_(has_known_shape) {}
  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<SparseAccumulator> accumulator,
               FindNamedState<SparseAccumulator>(context, context.input(0)));
    TRY(CheckGradientType(*accumulator, dtype_));
    TRY_ASSIGN(const int64_t step, ScalarArgument<int64_t>(context, 1, "local_step"));
    return accumulator->ApplyGradient(context, step, context.input(2), context.input(3),
                                      context.input(4), has_known_shape_);
  }

 private:
  const DType dtype_;
  const bool has_known_shape_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> SparseConditionalAccumulator::MakeCpuKernel(
    const KernelRequest& request) {
  const auto& op =
      static_cast<const op_internal::Decoded<SparseConditionalAccumulator>*>(request.op.get())->op;
  TRY_ASSIGN(const AccumulatorBlocks blocks, FindAccumulatorBlocks(op.dtype));
  const AccumulatorSpec spec{op.shared_name.empty() ? request.node : op.shared_name, op.dtype,
                             op.shape, op.reduction_type == "MEAN"};
  return std::unique_ptr<Kernel>(
      std::make_unique<AccumulatorKernel<SparseAccumulator>>(op.container, spec, blocks));
}

Result<std::vector<Shape>> SparseAccumulatorApplyGradient::InferShape(const Shape&,
                                                                      const Shape& local_step,
                                                                      const Shape& indices,
                                                                      const Shape& values,
                                                                      const Shape&) const {
  TRY(CheckScalar(local_step, "local_step"));
  TRY(CheckVector(indices, "gradient_indices"));
  TRY(CheckRankAtLeast(values, 1, "gradient_values"));
  return std::vector<Shape>();
}

Result<std::unique_ptr<Kernel>> SparseAccumulatorApplyGradient::MakeCpuKernel(
    const KernelRequest& request) {
  const auto& op =
      static_cast<const op_internal::Decoded<SparseAccumulatorApplyGradient>*>(request.op.get())
          ->op;
  return std::unique_ptr<Kernel>(
      std::make_unique<SparseApplyKernel>(request.inputs[3], op.has_known_shape));
}

Result<std::array<Shape, 3>> SparseAccumulatorTakeGradient::InferShape(
    const Shape&, const Shape& num_required) const {
  TRY(CheckScalar(num_required, "num_required"));
  return std::array<Shape, 3>{Shape{Shape::kUnknownDim}, Shape::Unknown(),
                              Shape{Shape::kUnknownDim}};
}

Result<std::unique_ptr<Kernel>> SparseAccumulatorTakeGradient::MakeCpuKernel(
    const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      std::make_unique<TakeGradientKernel<SparseAccumulator>>(request.outputs[1]));
}

void RegisterSparseAccumulators(Registrar& registrar) {
  registrar.AddAll<SparseConditionalAccumulator, SparseAccumulatorApplyGradient,
                   SparseAccumulatorTakeGradient>();
}

}  // namespace penstock::ops
