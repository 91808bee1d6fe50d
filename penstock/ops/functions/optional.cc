#include "penstock/ops/functions/optional.h"

namespace penstock::ops {
namespace {

class OptionalValue final : public Variant::Value {
 public:
  OptionalValue() = default;
  explicit OptionalValue(std::vector<Tensor> tensors)
      : tensors_(std::move(tensors)), has_value_(true) {}
  std::string TypeName() const override { return "tensorflow::data::Optional"; }
  bool has_value() const { return has_value_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<Tensor> tensors_;
  bool has_value_ = false;
};

Result<const OptionalValue*> Read(const Tensor& optional) {
  const OptionalValue* value =
      optional.num_elements() == 1 ? optional.scalar<Variant>().As<OptionalValue>() : nullptr;
  if (value == nullptr) return InvalidArgument("the input is not an Optional");
  return value;
}

Tensor Scalar(OptionalValue value) {
  return Tensor::Scalar(Variant(std::make_shared<const OptionalValue>(std::move(value))));
}

}  // namespace

Status OptionalNone::ComputeCpu(CpuContext& context) const {
  context.SetOutput(0, Scalar({}));
  return OkStatus();
}

void OptionalFromValue::Gradient(Gradients& g) const {
  std::vector<DType> types;
  std::vector<Shape> shapes;
  for (int i = 0; i < g.num_inputs(); ++i) {
    types.push_back(g.input(i).dtype());
    shapes.push_back(g.input(i).shape());
  }
  const Expr values =
      Op("OptionalGetValue", g.dy(), {{"output_types", types}, {"output_shapes", shapes}});
  for (int i = 0; i < g.num_inputs(); ++i) {
    if (values.valid()) g.Set(i, values.Output(i));
  }
}

void OptionalGetValue::Gradient(Gradients& g) const {
  std::vector<Expr> dys;
  for (int i = 0; i < g.num_outputs(); ++i) dys.push_back(g.dy(i));
  g.Set(0, g.scope().Add("OptionalFromValue", dys));
}

Status OptionalFromValue::ComputeCpu(CpuContext& context,
                                     std::span<Tensor* const> components) const {
  std::vector<Tensor> tensors;
  for (const Tensor* component : components)
    tensors.push_back(component->MayBeKept() ? *component : component->Clone());
  context.SetOutput(0, Scalar(OptionalValue(std::move(tensors))));
  return OkStatus();
}

Status OptionalHasValue::ComputeCpu(CpuContext& context, const Tensor& optional) const {
  TRY_ASSIGN(const OptionalValue* value, Read(optional));
  context.SetOutput(0, Tensor::Scalar(value->has_value()));
  return OkStatus();
}

Status OptionalGetValue::ComputeCpu(CpuContext& context, const Tensor& optional) const {
  TRY_ASSIGN(const OptionalValue* value, Read(optional));
  if (!value->has_value()) return InvalidArgument("The given optional does not have a value.");
  if (value->tensors().size() != output_types.size()) {
    return InvalidArgument("the optional must have {} components, got {}", output_types.size(),
                           value->tensors().size());
  }
  for (size_t i = 0; i < output_types.size(); ++i) {
    const Tensor& tensor = value->tensors()[i];
    if (tensor.dtype() != output_types[i] || !output_shapes[i].IsCompatibleWith(tensor.shape())) {
      return InvalidArgument("component {} must be {} {}, got {} {}", i, output_types[i],
                             output_shapes[i], tensor.dtype(), tensor.shape());
    }
    context.SetOutput(static_cast<int>(i), tensor);
  }
  return OkStatus();
}

void RegisterOptional(Registrar& registrar) {
  registrar.AddAll<OptionalNone, OptionalFromValue, OptionalHasValue, OptionalGetValue>();
}

}  // namespace penstock::ops
