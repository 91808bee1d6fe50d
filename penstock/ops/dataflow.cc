#include "penstock/ops/dataflow.h"

#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

class UnfedKernel final : public Kernel {
 public:
  UnfedKernel(std::string node, DType dtype) : node_(std::move(node)), dtype_(dtype) {}
  Status Compute(KernelContext&) override {
    return InvalidArgument("You must feed a value for placeholder tensor '{}' with dtype {}", node_,
                           dtype_);
  }

 private:
  const std::string node_;
  const DType dtype_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> Placeholder::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<UnfedKernel>(request.node, request.outputs[0]));
}

Result<std::unique_ptr<Kernel>> PlaceholderV2::MakeCpuKernel(const KernelRequest& request) {
  return Placeholder::MakeCpuKernel(request);
}

Result<std::vector<Shape>> IdentityN::InferShape(std::span<const Known> input) const {
  std::vector<Shape> shapes;
  for (const Known& known : input) shapes.push_back(*known.shape);
  return shapes;
}

void IdentityN::Gradient(Gradients& g) const {
  for (int i = 0; i < g.num_inputs(); ++i) {
    if (g.has_dy(i)) g.Set(i, g.dy(i));
  }
}

Status IdentityN::ComputeCpu(CpuContext& context, std::span<Tensor* const> input) const {
  for (size_t i = 0; i < input.size(); ++i) context.SetOutput(static_cast<int>(i), *input[i]);
  return OkStatus();
}

void PreventGradient::Gradient(Gradients& g) const {
  g.scope().Fail(
      Unimplemented("a gradient was asked for that is explicitly disabled: {}", message));
}

Status Snapshot::ComputeCpu(CpuContext& context, const Tensor& input) const {
  if (context.MayOverwrite(0)) {
    context.SetOutput(0, input);  // nobody else can write to it
    return OkStatus();
  }
  TRY_ASSIGN(Tensor copy, context.Allocate(input.dtype(), input.shape()));
  CopyRun(input, 0, copy, 0, input.num_elements(), context.parallel());
  context.SetOutput(0, std::move(copy));
  return OkStatus();
}

Status DeepCopy::ComputeCpu(CpuContext& context, const Tensor& x, Tensor& y) const {
  CopyRun(x, 0, y, 0, x.num_elements(), context.parallel());
  return OkStatus();
}

Result<Shape> Empty::InferShape(const Integers& shape) const {
  TRY(CheckVector(shape.shape(), "shape"));
  return shape.AsShape();
}

Status Empty::ComputeCpu(CpuContext& context, const Tensor&, Tensor& output) const {
  ZeroElements(output, context.parallel());
  return OkStatus();
}

void RegisterDataflow(Registrar& registrar) {
  registrar.AddAll<Const, Placeholder, PlaceholderV2, PlaceholderWithDefault, Identity, IdentityN,
                   StopGradient, PreventGradient, EnsureShape, Snapshot, DeepCopy, GuaranteeConst,
                   Empty, NoOp, ControlTrigger, Arg, Retval>();
}

}  // namespace penstock::ops
