#include "penstock/ops/op_kernel.h"

namespace penstock::op_internal {

Status InferFromInputs(CpuContext& context, const void* op,
                       Status (*infer)(const void*, std::span<const Known>, std::span<Shape>),
                       std::span<Shape> shapes) {
  constexpr int kSmall = 8;
  Known small[kSmall];
  std::vector<Known> large;
  const int n = context.num_inputs();
  if (n > kSmall) large.resize(static_cast<size_t>(n));
  Known* known = n > kSmall ? large.data() : small;
  for (int i = 0; i < n; ++i) {
    const Tensor& tensor = context.input(i);
    known[i] = {&tensor.shape(), tensor.dtype(), &tensor, nullptr};
  }
  return infer(op, {known, static_cast<size_t>(n)}, shapes);
}

Status AllocateOutputs(CpuContext& context, std::span<const DType> dtypes, const Shape* shapes,
                       bool in_place) {
  for (size_t i = 0; i < dtypes.size(); ++i) {
    const int port = static_cast<int>(i);
    if (in_place && i == 0 && !context.output(0).initialized()) {
      for (int k = 0; k < context.num_inputs(); ++k) {
        if (!context.MayOverwrite(k)) continue;
        const Tensor& input = context.input(k);
        if (input.dtype() != dtypes[0] || !(input.shape() == shapes[0])) continue;
        context.SetOutput(
            0, input);  // both now point at it: the kernel reads and writes element by element
        break;
      }
      if (context.output(0).initialized()) continue;
    }
    TRY(context.AllocateOutput(port, dtypes[i], shapes[i]));
  }
  return OkStatus();
}

}  // namespace penstock::op_internal

namespace penstock {

void Registrar::Declare(OpInfo info) {
  if (Status status = ops_->Add(std::move(info)); status_.ok()) status_ = std::move(status);
}

void Registrar::AddKernel(std::string_view op, KernelFactory factory) {
  if (Status status = kernels_->Add(op, "CPU", std::move(factory)); status_.ok())
    status_ = std::move(status);
}

}  // namespace penstock
