#include "penstock/ops/state/variable_lists.h"

#include <limits>

#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

class VarHandlesKernel final : public Kernel {
 public:
  void Add(std::unique_ptr<VariableHandle> handle) { handles_.push_back(std::move(handle)); }

  Status Compute(KernelContext& context) override {
    for (size_t i = 0; i < handles_.size(); ++i) {
      TRY_ASSIGN(Tensor handle, handles_[i]->Get(context));
      context.SetOutput(static_cast<int>(i), std::move(handle));
    }
    return OkStatus();
  }

 private:
  std::vector<std::unique_ptr<VariableHandle>> handles_;
};

class ReadVariablesKernel final : public Kernel {
 public:
  explicit ReadVariablesKernel(std::span<const DType> dtypes)
      : dtypes_(dtypes.begin(), dtypes.end()) {}

  Status Compute(KernelContext& context) override {
    const Shape* settled = context.settled_shapes();
    for (size_t i = 0; i < dtypes_.size(); ++i) {
      const int at = static_cast<int>(i);
      TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
                 FindVariable(context, context.input(at), dtypes_[i]));
      const ResourceHandle& handle = HandleIn(context.input(at));
      Tensor value = variable->Read();
      if (!value.initialized()) return UninitializedResource(handle);
      const Shape& expected = settled != nullptr ? settled[i] : handle.shape;
      if (!expected.IsCompatibleWith(value.shape())) {
        return InvalidArgument("variable {} must have shape {}, got {}", Printable(handle.name),
                               expected, value.shape());
      }
      context.SetOutput(at, std::move(value));
    }
    return OkStatus();
  }

 private:
  const std::vector<DType> dtypes_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> VarHandlesOp::MakeCpuKernel(const KernelRequest& request) {
  const auto& op = static_cast<const op_internal::Decoded<VarHandlesOp>*>(request.op.get())->op;
  const size_t n = request.outputs.size();
  for (const size_t length :
       {op.containers.size(), op.shared_names.size(), op.dtypes.size(), op.shapes.size()}) {
    if (length != n) {
      return InvalidArgument(
          "containers, shared_names, dtypes and shapes must each have N = {} elements, got {}", n,
          length);
    }
  }
  auto kernel = std::make_unique<VarHandlesKernel>();
  for (size_t i = 0; i < n; ++i) {
    // Names are all that tells the variables of one node apart.
    const std::string name =
        op.shared_names[i].empty() ? Format("{}_{}", request.node, i) : op.shared_names[i];
    kernel->Add(
        std::make_unique<VariableHandle>(op.containers[i], name, op.dtypes[i], op.shapes[i]));
  }
  return std::unique_ptr<Kernel>(std::move(kernel));
}

Result<std::vector<Shape>> ReadVariablesOp::InferShape(std::span<const Known> resources) const {
  std::vector<Shape> shapes;
  for (const Known& known : resources) {
    const Shape* shape = known.handle_shape;
    shapes.push_back(shape != nullptr && shape->IsFullyKnown() ? *shape : Shape::Unknown());
  }
  return shapes;
}

void ReadVariablesOp::Gradient(Gradients& g) const {
  for (int i = 0; i < g.num_inputs(); ++i) {
    if (g.has_dy(i)) g.Set(i, g.dy(i));
  }
}

Result<std::unique_ptr<Kernel>> ReadVariablesOp::MakeCpuKernel(const KernelRequest& request) {
  if (request.inputs.size() != request.outputs.size()) {
    return InvalidArgument("dtypes must have N = {} elements, got {}", request.inputs.size(),
                           request.outputs.size());
  }
  return std::unique_ptr<Kernel>(std::make_unique<ReadVariablesKernel>(request.outputs));
}

Status DisableCopyOnRead::ComputeCpu(CpuContext& context, const Tensor& resource) const {
  TRY(FindVariable(context, resource, DType::kInvalid));
  return OkStatus();
}

template <class T>
Status ResourceCountUpTo::ComputeCpu(CpuContext& context, const Tensor& resource,
                                     std::span<T> output) const {
  TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
             FindVariable(context, resource, kDTypeOf<T>));
  return variable->Update([&](Tensor& value) -> Status {
    if (!value.initialized()) return UninitializedResource(HandleIn(resource));
    TRY(CheckScalar(value.shape(), "the variable"));
    const T before = value.scalar<T>();
    if (before >= limit || before == std::numeric_limits<T>::max()) {
      return OutOfRange("Reached limit of {}", limit);
    }
    TRY(MakeWritable(context, value));
    *value.mutable_data<T>() = static_cast<T>(before + 1);
    output[0] = before;
    return OkStatus();
  });
}

void RegisterVariableLists(Registrar& registrar) {
  registrar.AddAll<VarHandlesOp, ReadVariablesOp, DisableCopyOnRead, ResourceCountUpTo>();
}

}  // namespace penstock::ops
