#include "penstock/ops/functions/called_function.h"

namespace penstock {

Result<RunnableFunction*> CalledFunction::Find(const StepResources& step) const {
  if (step.functions == nullptr)
    return FailedPrecondition("function {} cannot run here: there is no library",
                              Printable(function_.name));
  Result<RunnableFunction*> found = step.functions->Find(function_);
  if (!found.ok()) return found.status().Annotate(role_);
  TRY(CheckTypes(**found));
  // Release: see Get.
  found_.store(*found, std::memory_order_release);
  return found;
}

Status CalledFunction::CheckTypes(const RunnableFunction& found) const {
  if (found.args() != args_) {
    return InvalidArgument("{}: the node passes {} to function {}, which takes {}", role_,
                           ToString(args_), Printable(found.name()), ToString(found.args()));
  }
  if (!results_) {
    if (found.results().size() == 1) return OkStatus();
    return InvalidArgument("{}: function {} must return one value, got {}", role_,
                           Printable(found.name()), ToString(found.results()));
  }
  if (found.results() != *results_) {
    return InvalidArgument("{}: the node expects {} from function {}, which returns {}", role_,
                           ToString(*results_), Printable(found.name()), ToString(found.results()));
  }
  return OkStatus();
}

std::vector<Tensor> TakeInputs(KernelContext& context, int first) {
  std::vector<Tensor> args;
  args.reserve(static_cast<size_t>(context.num_inputs() - first));
  for (int i = first; i < context.num_inputs(); ++i) {
    args.push_back(context.MayOverwrite(i) ? context.TakeInput(i) : context.input(i));
  }
  return args;
}

Status SetOutputs(KernelContext& context, std::vector<Tensor> results,
                  const std::vector<Shape>& promised) {
  for (int i = 0; i < context.num_outputs(); ++i) {
    const auto index = static_cast<size_t>(i);
    if (index < promised.size() && !promised[index].IsCompatibleWith(results[index].shape())) {
      return InvalidArgument("output {} must have shape {}, got {}", i, promised[index],
                             results[index].shape());
    }
    context.SetOutput(i, std::move(results[index]));
  }
  return OkStatus();
}

Result<bool> IsTrue(const Tensor& value) {
  if (value.shape().rank() != 0) return value.num_elements() > 0;
  switch (value.dtype()) {
    case DType::kBool:
      return value.scalar<bool>();
    case DType::kString:
      return !value.scalar<std::string>().empty();
    case DType::kFloat:
      return value.scalar<float>() != 0;
    case DType::kDouble:
      return value.scalar<double>() != 0;
    case DType::kInt8:
      return value.scalar<int8_t>() != 0;
    case DType::kInt16:
      return value.scalar<int16_t>() != 0;
    case DType::kInt32:
      return value.scalar<int32_t>() != 0;
    case DType::kInt64:
      return value.scalar<int64_t>() != 0;
    case DType::kUint8:
      return value.scalar<uint8_t>() != 0;
    case DType::kUint16:
      return value.scalar<uint16_t>() != 0;
    default:
      return InvalidArgument("a value of dtype {} is neither true nor false", value.dtype());
  }
}

}  // namespace penstock
