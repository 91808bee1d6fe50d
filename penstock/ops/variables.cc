#include "penstock/ops/variables.h"

#include <cstring>
#include <limits>

#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

template <class Op>
const Op& DecodedOf(const KernelRequest& request) {
  return static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
}

class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(std::string container, std::string name, DType dtype, const Shape& shape)
      : handle_(std::move(container), std::move(name), dtype, shape) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(Tensor handle, handle_.Get(context));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  VariableHandle handle_;
};

template <class Op>
Result<std::unique_ptr<Kernel>> MakeReferenceKernel(const KernelRequest& request) {
  const Op& op = DecodedOf<Op>(request);
  TRY_ASSIGN(const Shape shape, op.InferShape());
  return std::unique_ptr<Kernel>(std::make_unique<ReferenceKernel>(
      op.container, op.shared_name.empty() ? request.node : op.shared_name, op.dtype, shape));
}

class TemporaryVariableKernel final : public Kernel {
 public:
  TemporaryVariableKernel(std::string name, DType dtype, const Shape& shape)
      : name_(std::move(name)), dtype_(dtype), shape_(shape) {}

  // Nothing but the handle knows the variable: it ends with the step.
  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(Tensor value, context.Allocate(dtype_, shape_));
    if (IsPlain(dtype_) && value.bytes() > 0) std::memset(value.mutable_raw(), 0, value.bytes());
    auto variable = std::make_shared<StateVariable>(dtype_);
    variable->Write(std::move(value));
    TRY_ASSIGN(Tensor handle, MakeVariableHandle(context, "", name_, shape_, std::move(variable)));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  const std::string name_;
  const DType dtype_;
  const Shape shape_;
};

class DestroyTemporaryVariableKernel final : public Kernel {
 public:
  DestroyTemporaryVariableKernel(std::string name, DType dtype)
      : name_(std::move(name)), dtype_(dtype) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
               ReferencedVariable(context, context.input(0), dtype_));
    const ResourceHandle& handle = HandleIn(context.input(0));
    if (handle.name != name_) {
      return InvalidArgument("the temporary variable must be {}, got {}", Printable(name_),
                             Printable(handle.name));
    }
    Tensor value;
    TRY(variable->Update([&](Tensor& held) {
      value = std::move(held);
      return OkStatus();
    }));
    if (!value.initialized()) return UninitializedReference(handle);
    const Shape* settled = context.settled_shapes();
    if (settled != nullptr && !(*settled == value.shape())) {
      return InvalidArgument("temporary variable {} must have shape {}, got {}", Printable(name_),
                             *settled, value.shape());
    }
    context.SetOutput(0, std::move(value));
    return OkStatus();
  }

 private:
  const std::string name_;
  const DType dtype_;
};

class AssignKernel final : public Kernel {
 public:
  AssignKernel(bool validate_shape, DType dtype) : validate_shape_(validate_shape), dtype_(dtype) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
               ReferencedVariable(context, context.input(0), dtype_));
    if (!context.input(1).initialized()) {
      return FailedPrecondition(
          "Attempting to use uninitialized value: the right side of an Assign");
    }
    TRY(variable->Update([&](Tensor& value) { return Store(context, value); }));
    context.SetOutput(0, context.input(0));
    return OkStatus();
  }

 private:
  Status Store(KernelContext& context, Tensor& value) const {
    const Shape& declared = HandleIn(context.input(0)).shape;
    const Shape& shape = context.input(1).shape();
    if (validate_shape_ &&
        !(value.initialized() ? value.shape() == shape : declared.IsCompatibleWith(shape))) {
      return InvalidArgument(
          "Assign requires shapes of both tensors to match. lhs shape= {} rhs shape= {}",
          value.initialized() ? value.shape() : declared, shape);
    }
    TRY_ASSIGN(value, KeepInput(context, 1));
    return OkStatus();
  }

  const bool validate_shape_;
  const DType dtype_;
};

class AssignUpdateKernel final : public Kernel {
 public:
  AssignUpdateKernel(const ElementwiseBlock& block, DType dtype) : block_(block), dtype_(dtype) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
               ReferencedVariable(context, context.input(0), dtype_));
    TRY(variable->Update([&](Tensor& value) -> Status {
      if (!value.initialized()) return UninitializedReference(HandleIn(context.input(0)));
      if (!(value.shape() == context.input(1).shape())) {
        return InvalidArgument("the variable's shape {} and the value's must be equal, got {}",
                               value.shape(), context.input(1).shape());
      }
      return UpdateElementwise(context, block_, value);
    }));
    context.SetOutput(0, context.input(0));
    return OkStatus();
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
  return std::unique_ptr<Kernel>(std::make_unique<AssignUpdateKernel>(*block, dtype));
}

class IsVariableInitializedKernel final : public Kernel {
 public:
  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
               ReferencedVariable(context, context.input(0), DType::kInvalid));
    TRY(context.AllocateOutput(0, DType::kBool, Shape()));
    *context.output(0).mutable_data<bool>() = variable->Read().initialized();
    return OkStatus();
  }
};

template <class T>
class CountUpToKernel final : public Kernel {
 public:
  explicit CountUpToKernel(int64_t limit) : limit_(limit) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
               ReferencedVariable(context, context.input(0), kDTypeOf<T>));
    TRY(context.AllocateOutput(0, kDTypeOf<T>, Shape()));
    return variable->Update([&](Tensor& value) -> Status {
      if (!value.initialized()) return UninitializedReference(HandleIn(context.input(0)));
      TRY(CheckScalar(value.shape(), "the variable"));
      const T before = value.scalar<T>();
      if (before >= limit_ || before == std::numeric_limits<T>::max()) {
        return OutOfRange("Reached limit of {}", limit_);
      }
      TRY(MakeWritable(context, value));
      *value.mutable_data<T>() = before + 1;
      *context.output(0).mutable_data<T>() = before;
      return OkStatus();
    });
  }

 private:
  const int64_t limit_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> VariableV2::MakeCpuKernel(const KernelRequest& request) {
  return MakeReferenceKernel<VariableV2>(request);
}

Result<std::unique_ptr<Kernel>> VariableV1::MakeCpuKernel(const KernelRequest& request) {
  return MakeReferenceKernel<VariableV1>(request);
}

Result<std::unique_ptr<Kernel>> TemporaryVariable::MakeCpuKernel(const KernelRequest& request) {
  const auto& op = DecodedOf<TemporaryVariable>(request);
  if (!op.shape.IsFullyKnown()) {
    return InvalidArgument("shape must be known in full, got {}", op.shape);
  }
  return std::unique_ptr<Kernel>(std::make_unique<TemporaryVariableKernel>(
      op.var_name.empty() ? request.node : op.var_name, op.dtype, op.shape));
}

Result<std::unique_ptr<Kernel>> DestroyTemporaryVariable::MakeCpuKernel(
    const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<DestroyTemporaryVariableKernel>(
      DecodedOf<DestroyTemporaryVariable>(request).var_name, request.outputs[0]));
}

Result<std::unique_ptr<Kernel>> Assign::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      std::make_unique<AssignKernel>(DecodedOf<Assign>(request).validate_shape, request.inputs[1]));
}

Result<std::unique_ptr<Kernel>> AssignAdd::MakeCpuKernel(const KernelRequest& request) {
  return MakeUpdateKernel(request, "AddV2");
}

Result<std::unique_ptr<Kernel>> AssignSub::MakeCpuKernel(const KernelRequest& request) {
  return MakeUpdateKernel(request, "Sub");
}

Result<std::unique_ptr<Kernel>> IsVariableInitialized::MakeCpuKernel(const KernelRequest&) {
  return std::unique_ptr<Kernel>(std::make_unique<IsVariableInitializedKernel>());
}

Result<std::unique_ptr<Kernel>> CountUpTo::MakeCpuKernel(const KernelRequest& request) {
  const int64_t limit = DecodedOf<CountUpTo>(request).limit;
  if (request.outputs[0] == DType::kInt32) {
    return std::unique_ptr<Kernel>(std::make_unique<CountUpToKernel<int32_t>>(limit));
  }
  return std::unique_ptr<Kernel>(std::make_unique<CountUpToKernel<int64_t>>(limit));
}

void RegisterVariables(Registrar& registrar) {
  registrar.AddAll<VariableV1, VariableV2, TemporaryVariable, DestroyTemporaryVariable, Assign,
                   AssignAdd, AssignSub, IsVariableInitialized, CountUpTo>();
}

}  // namespace penstock::ops
