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

OpKernel::OpKernel(const KernelRequest& request)
    : op_(request.op), output_types_(request.outputs.begin(), request.outputs.end()) {}

OpKernel::~OpKernel() = default;

Status OpKernel::Prepare(CpuContext& context, const KernelRules& rules) const {
  if (const Shape* settled = context.settled_shapes()) {
    if (!rules.allocates) return OkStatus();
    return AllocateOutputs(context, output_types_, settled, rules.in_place);
  }
  std::vector<Shape> shapes(output_types_.size());
  if (rules.infer != nullptr) TRY(InferFromInputs(context, op_.get(), rules.infer, shapes));
  if (!rules.allocates) return OkStatus();
  return AllocateOutputs(context, output_types_, shapes.data(), rules.in_place);
}

Result<std::unique_ptr<Kernel>> MakeTyped(std::string_view op, std::span<const TypedMaker> makers,
                                          size_t index, const KernelRequest& request) {
  const auto& decoded = *static_cast<const DecodedBase*>(request.op.get());
  const size_t num_inputs = decoded.input_at.size() - 1;
  DType dtype = DType::kInvalid;
  if (index >= num_inputs) {
    dtype = request.outputs[static_cast<size_t>(decoded.output_at[index - num_inputs])];
  } else if (decoded.InputCount(index) > 0) {
    dtype = request.inputs[static_cast<size_t>(decoded.input_at[index])];
  }
  for (const TypedMaker& maker : makers) {
    if (maker.dtype == dtype) return std::unique_ptr<Kernel>(maker.make(request));
  }
  return Unimplemented("op {} has no CPU kernel for {}", op, dtype);
}

}  // namespace penstock::op_internal

namespace penstock {

void Registrar::Add(const op_internal::OpSpec& spec, bool placeable, KernelFactory factory) {
  OpInfo info = op_internal::MakeOpInfo(spec);
  info.traits.placeable = placeable;
  Status status = ops_->Add(std::move(info));
  if (status.ok() && factory != nullptr)
    status = kernels_->Add(spec.name, "CPU", std::move(factory));
  if (status_.ok()) status_ = std::move(status);
}

}  // namespace penstock
