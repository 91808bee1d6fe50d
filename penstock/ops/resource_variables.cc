#include "penstock/ops/resource_variables.h"

#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

class VarHandleKernel final : public Kernel {
 public:
  VarHandleKernel(const VarHandleOp& op, const std::string& node)
      : handle_(op.container, op.shared_name.empty() ? node : op.shared_name, op.dtype, op.shape) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(Tensor handle, handle_.Get(context));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  VariableHandle handle_;
};

// A new variable for each step, owned by its handles alone.
class AnonymousVarHandleKernel final : public Kernel {
 public:
  AnonymousVarHandleKernel(const VarHandleOp& op, std::string node)
      : op_(op), node_(std::move(node)) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(Tensor handle, MakeVariableHandle(context, op_.container, node_, op_.shape,
                                                 std::make_shared<StateVariable>(op_.dtype)));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  const VarHandleOp op_;
  const std::string node_;
};

class UpdateVariableKernel final : public Kernel {
 public:
  UpdateVariableKernel(const ElementwiseBlock& block, DType dtype) : block_(block), dtype_(dtype) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
               FindVariable(context, context.input(0), dtype_));
    return variable->Update([&](Tensor& value) -> Status {
      if (!value.initialized()) return UninitializedResource(HandleIn(context.input(0)));
      if (!(value.shape() == context.input(1).shape())) {
        return InvalidArgument(
            "Cannot update variable with shape {} using a Tensor with shape {}, shapes must be "
            "equal.",
            value.shape(), context.input(1).shape());
      }
      return UpdateElementwise(context, block_, value);
    });
  }

 private:
  const ElementwiseBlock block_;
  const DType dtype_;
};

Result<std::unique_ptr<Kernel>> MakeUpdateKernel(const KernelRequest& request,
                                                 std::string_view op) {
  const DType dtype = request.inputs[1];
  const ElementwiseBlock* block = StandardElementwise().Find(op, dtype);
  if (block == nullptr) return Unimplemented("no CPU kernel updates variables of {}", dtype);
  return std::unique_ptr<Kernel>(std::make_unique<UpdateVariableKernel>(*block, dtype));
}

}  // namespace

Result<std::unique_ptr<Kernel>> VarHandleOp::MakeCpuKernel(const KernelRequest& request) {
  const auto& op = static_cast<const op_internal::Decoded<VarHandleOp>*>(request.op.get())->op;
  if (op.shared_name == kAnonymous) {
    return std::unique_ptr<Kernel>(std::make_unique<AnonymousVarHandleKernel>(op, request.node));
  }
  return std::unique_ptr<Kernel>(std::make_unique<VarHandleKernel>(op, request.node));
}

Status ReadVariableOp::ComputeCpu(CpuContext& context, const Tensor& resource) const {
  TRY_ASSIGN(const std::shared_ptr<StateVariable> variable, FindVariable(context, resource, dtype));
  const ResourceHandle& handle = HandleIn(resource);
  Tensor value = variable->Read();
  if (!value.initialized()) return UninitializedResource(handle);
  // Nodes after this one trust the shape that the graph was compiled with.
  const Shape* settled = context.settled_shapes();
  const Shape& expected = settled != nullptr ? *settled : handle.shape;
  if (!expected.IsCompatibleWith(value.shape())) {
    return InvalidArgument("variable {} must have shape {}, got {}", Printable(handle.name),
                           expected, value.shape());
  }
  context.SetOutput(0, std::move(value));
  return OkStatus();
}

Status AssignVariableOp::ComputeCpu(CpuContext& context, const Tensor& resource,
                                    const Tensor& value) const {
  TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
             FindVariableToAssign(context, resource, value.dtype()));
  const Shape& declared = HandleIn(resource).shape;
  return variable->Update([&](Tensor& held) -> Status {
    const bool fits = declared.IsCompatibleWith(value.shape());
    if (!fits || (validate_shape && held.initialized() && !(held.shape() == value.shape()))) {
      return InvalidArgument(
          "Trying to assign to variable with tensor with wrong shape. Expected {} got {}",
          fits ? held.shape() : declared, value.shape());
    }
    TRY_ASSIGN(held, KeepInput(context, 1));
    return OkStatus();
  });
}

Result<std::unique_ptr<Kernel>> AssignAddVariableOp::MakeCpuKernel(const KernelRequest& request) {
  return MakeUpdateKernel(request, "AddV2");
}

Result<std::unique_ptr<Kernel>> AssignSubVariableOp::MakeCpuKernel(const KernelRequest& request) {
  return MakeUpdateKernel(request, "Sub");
}

Status VarIsInitializedOp::ComputeCpu(CpuContext& context, const Tensor& resource,
                                      std::span<bool> out) const {
  const Result<std::shared_ptr<StateVariable>> variable =
      FindVariable(context, resource, DType::kInvalid);
  if (!variable.ok() && variable.status().code() != Code::kFailedPrecondition) {
    return variable.status();
  }
  out[0] = variable.ok() && (*variable)->Read().initialized();
  return OkStatus();
}

Status DestroyResourceOp::ComputeCpu(CpuContext& context, const Tensor& resource) const {
  if (resource.num_elements() != 1) {
    return InvalidArgument("expected one handle, got shape {}", resource.shape());
  }
  const ResourceHandle& handle = HandleIn(resource);
  const std::shared_ptr<Resource> registered = context.state().Find(handle.container, handle.name);
  const std::shared_ptr<Resource> target = handle.resource ? handle.resource : registered;
  bool existed = target != nullptr;
  // A handle that this step already holds sees the variable as gone, too.
  if (auto* variable = dynamic_cast<StateVariable*>(target.get())) {
    TRY(variable->Update([&](Tensor& value) {
      existed = value.initialized() && !variable->dropped();
      value = Tensor();
      return OkStatus();
    }));
  }
  if (registered != nullptr && registered == target) {
    (void)context.state().Remove(handle.container, handle.name);
  }
  if (existed || ignore_lookup_error) return OkStatus();
  return NotFound("Resource {} does not exist.", Printable(handle.ToString()));
}

template <class T>
Status VariableShape::ComputeCpu(CpuContext& context, const Tensor& input) const {
  TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
             FindVariable(context, input, DType::kInvalid));
  const Tensor value = variable->Read();
  if (!value.initialized()) return UninitializedResource(HandleIn(input));
  const Shape& shape = value.shape();
  const Shape* settled = context.settled_shapes();
  if (settled != nullptr && settled->dim(0) != shape.rank()) {
    return InvalidArgument("variable {} must have rank {}, got shape {}",
                           Printable(HandleIn(input).name), settled->dim(0), shape);
  }
  TRY(context.AllocateOutput(0, kDTypeOf<T>, Shape{shape.rank()}));
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (static_cast<T>(shape.dim(axis)) != shape.dim(axis)) {
      return InvalidArgument("dimension {} must fit into {}, got {}", axis, kDTypeOf<T>,
                             shape.dim(axis));
    }
    context.output(0).mutable_data<T>()[axis] = static_cast<T>(shape.dim(axis));
  }
  return OkStatus();
}

void RegisterResourceVariables(Registrar& registrar) {
  registrar.AddAll<VarHandleOp, ReadVariableOp, AssignVariableOp, AssignAddVariableOp,
                   AssignSubVariableOp, VarIsInitializedOp, DestroyResourceOp, VariableShape>();
}

}  // namespace penstock::ops
