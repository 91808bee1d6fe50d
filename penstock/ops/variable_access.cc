#include "penstock/ops/variable_access.h"

#include <algorithm>
#include <cstring>
#include <typeinfo>
#include <utility>

#include "penstock/kernels/broadcast.h"

namespace penstock::ops {

Result<Tensor> MakeVariableHandle(KernelContext& context, std::string container, std::string name,
                                  const Shape& shape, std::shared_ptr<StateVariable> variable) {
  TRY_ASSIGN(Tensor tensor, context.Allocate(DType::kResource, Shape()));
  ResourceHandle& handle = *tensor.mutable_data<ResourceHandle>();
  handle.container = std::move(container);
  handle.name = std::move(name);
  handle.type_name = kVariableTypeName;
  handle.dtype = variable->dtype();
  handle.shape = shape;
  handle.resource = std::move(variable);
  return tensor;
}

Result<Tensor> VariableHandle::Get(KernelContext& context) {
  StateRegistry& state = context.state();
  MutexLock lock(mu_);
  // Read before the search: state dropped meanwhile makes the next call search again.
  const uint64_t generation = state.generation();
  if (state_ == &state && generation_ == generation) return handle_;
  TRY_ASSIGN(std::shared_ptr<StateVariable> variable,
             state.FindOrMake<StateVariable>(
                 container_, name_, [this] { return std::make_shared<StateVariable>(dtype_); }));
  if (variable->dtype() != dtype_) {
    return InvalidArgument("variable {} must hold {}, got one that holds {}", Printable(name_),
                           dtype_, variable->dtype());
  }
  TRY_ASSIGN(handle_, MakeVariableHandle(context, container_, name_, shape_, std::move(variable)));
  state_ = &state;
  generation_ = generation;
  return handle_;
}

const ResourceHandle& HandleIn(const Tensor& tensor) { return *tensor.data<ResourceHandle>(); }

Result<std::shared_ptr<StateVariable>> ReferencedVariable(KernelContext& context,
                                                          const Tensor& tensor, DType dtype) {
  if (tensor.dtype() != DType::kResource || tensor.num_elements() != 1) {
    return InvalidArgument("expected a handle of a variable, got a tensor of dtype {} and shape {}",
                           tensor.dtype(), tensor.shape());
  }
  const ResourceHandle& handle = HandleIn(tensor);
  std::shared_ptr<Resource> resource = handle.resource;
  if (resource == nullptr) resource = context.state().Find(handle.container, handle.name);
  if (resource == nullptr) return UninitializedResource(handle);
  // Nothing derives from it: cheaper to ask than a cast, and every step asks for every variable.
  if (const Resource& found = *resource; typeid(found) != typeid(StateVariable)) {
    return InvalidArgument("{} must be a variable, got a {}", Printable(handle.ToString()),
                           found.DebugString());
  }
  std::shared_ptr<StateVariable> variable =
      std::static_pointer_cast<StateVariable>(std::move(resource));
  if (dtype != DType::kInvalid && variable->dtype() != dtype) {
    return InvalidArgument("variable {} must hold {}, got one that holds {}",
                           Printable(handle.name), dtype, variable->dtype());
  }
  return variable;
}

Result<std::shared_ptr<StateVariable>> FindVariable(KernelContext& context, const Tensor& tensor,
                                                    DType dtype) {
  TRY_ASSIGN(std::shared_ptr<StateVariable> variable, ReferencedVariable(context, tensor, dtype));
  if (variable->dropped()) return UninitializedResource(HandleIn(tensor));
  return variable;
}

Result<std::shared_ptr<StateVariable>> FindVariableToAssign(KernelContext& context,
                                                            const Tensor& tensor, DType dtype) {
  TRY_ASSIGN(std::shared_ptr<StateVariable> variable, ReferencedVariable(context, tensor, dtype));
  if (!variable->dropped()) return variable;
  const ResourceHandle& handle = HandleIn(tensor);
  TRY_ASSIGN(variable,
             context.state().FindOrMake<StateVariable>(handle.container, handle.name, [dtype] {
               return std::make_shared<StateVariable>(dtype);
             }));
  if (variable->dtype() == dtype) return variable;
  return InvalidArgument("variable {} must hold {}, got one that holds {}", Printable(handle.name),
                         dtype, variable->dtype());
}

Status UninitializedReference(const ResourceHandle& handle) {
  return FailedPrecondition("Attempting to use uninitialized value {}", Printable(handle.name));
}

Status UninitializedResource(const ResourceHandle& handle) {
  const std::string container(handle.container.empty() ? StateRegistry::kDefaultContainer
                                                       : std::string_view(handle.container));
  return FailedPrecondition(
      "Could not find variable {}. This could mean that the variable has been deleted. In TF1, it "
      "can also mean the variable is uninitialized. Debug info: container={}, status error "
      "message=Resource {}/{} does not exist.",
      Printable(handle.name), Printable(container), Printable(container), Printable(handle.name));
}

Result<Tensor> CopyTensor(KernelContext& context, const Tensor& tensor) {
  TRY_ASSIGN(Tensor copy, context.Allocate(tensor.dtype(), tensor.shape()));
  const int64_t count = tensor.num_elements();
  if (tensor.dtype() == DType::kString) {
    std::copy_n(tensor.data<std::string>(), count, copy.mutable_data<std::string>());
  } else if (tensor.dtype() == DType::kResource) {
    std::copy_n(tensor.data<ResourceHandle>(), count, copy.mutable_data<ResourceHandle>());
  } else if (tensor.dtype() == DType::kVariant) {
    std::copy_n(tensor.data<Variant>(), count, copy.mutable_data<Variant>());
  } else if (count > 0) {
    std::memcpy(copy.mutable_raw(), tensor.raw(), tensor.bytes());
  }
  return copy;
}

Result<Tensor> KeepInput(KernelContext& context, int i) {
  if (context.MayOverwrite(i)) return context.TakeInput(i);
  const Tensor& input = context.input(i);
  if (input.MayBeKept()) return input;
  return CopyTensor(context, input);
}

Status MakeWritable(KernelContext& context, Tensor& value) {
  if (value.OwnsUniquely()) return OkStatus();
  TRY_ASSIGN(value, CopyTensor(context, value));
  return OkStatus();
}

Status UpdateElementwise(KernelContext& context, const ElementwiseBlock& block, Tensor& value) {
  return UpdateElementwise(context, block, context.input(1), value);
}

Status UpdateElementwise(KernelContext& context, const ElementwiseBlock& block, Tensor change,
                         Tensor& value) {
  Tensor target;
  if (value.OwnsUniquely()) {
    target = value;
  } else {
    TRY_ASSIGN(target, context.Allocate(value.dtype(), value.shape()));
  }
  const int bytes = static_cast<int>(SizeOf(value.dtype()));
  kernels::Operand operands[] = {kernels::Operand::Dense(value.raw(), bytes),
                                 kernels::Operand::Dense(change.raw(), bytes)};
  operands[1].is_scalar = !(change.shape() == value.shape());
  kernels::RunElementwise(block.function, operands, value.shape().dims(), target.mutable_raw(),
                          bytes, block.cost, context.parallel());
  value = std::move(target);
  return OkStatus();
}

}  // namespace penstock::ops
