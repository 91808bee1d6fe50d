#include "penstock/ops/state/resource_gather.h"

#include "penstock/ops/gather.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

Result<Tensor> ReadValue(KernelContext& context, const Tensor& resource, DType dtype) {
  TRY_ASSIGN(const std::shared_ptr<StateVariable> variable, FindVariable(context, resource, dtype));
  Tensor value = variable->Read();
  if (!value.initialized()) return UninitializedResource(HandleIn(resource));
  return value;
}

// Output 0 of the shape that the value gives. Nodes after this one trust the shape that the graph
// was compiled with.
Status AllocateGathered(CpuContext& context, const Tensor& resource, DType dtype,
                        const Shape& shape) {
  const Shape* settled = context.settled_shapes();
  if (settled != nullptr && !(*settled == shape)) {
    return InvalidArgument("what is gathered from variable {} must have shape {}, got {}",
                           Printable(HandleIn(resource).name), *settled, shape);
  }
  return context.AllocateOutput(0, dtype, shape);
}

// A shape known in part is left unknown: see ReadVariableOp.
const Shape& Settled(const Handle& resource) {
  static const Shape unknown = Shape::Unknown();
  return resource.value_shape.IsFullyKnown() ? resource.value_shape : unknown;
}

// Zeros like the variable with dy added where `rows` point.
Expr ScatterBack(const Gradients& g, const Expr& rows) {
  const Expr shape = Op("VariableShape", g.input(0), {{"out_type", rows.dtype()}});
  return g.scope().Add("ScatterNd", {rows, g.dy(), shape});
}

}  // namespace

Result<Shape> ResourceGather::InferShape(const Handle& resource, const Shape& indices) const {
  const Tensor axis = Tensor::Scalar(batch_dims);
  return GatherV2{.batch_dims = batch_dims}.InferShape(
      Settled(resource), indices, Integers({&axis.shape(), axis.dtype(), &axis, nullptr}));
}

void ResourceGather::Gradient(Gradients& g) const {
  if (batch_dims != 0) {
    g.scope().Fail(Unimplemented("ResourceGather has no gradient with batch_dims {}", batch_dims));
    return;
  }
  const Scope& scope = g.scope();
  const Expr dense = ScatterBack(g, Op("ExpandDims", g.input(1), IntScalar(scope, -1)));
  SetLookedUpRows(g, 0, Op("VariableShape", g.input(0), {{"out_type", DType::kInt32}}), dense);
}

Status ResourceGather::ComputeCpu(CpuContext& context, const Tensor& resource,
                                  const Tensor& indices) const {
  TRY_ASSIGN(const Tensor value, ReadValue(context, resource, dtype));
  const GatherV2 gather{.batch_dims = batch_dims};
  const Tensor scalar = Tensor::Scalar(batch_dims);
  const Integers axis({&scalar.shape(), scalar.dtype(), &scalar, nullptr});
  TRY_ASSIGN(const Shape shape, gather.InferShape(value.shape(), indices.shape(), axis));
  TRY(AllocateGathered(context, resource, value.dtype(), shape));
  return gather.ComputeCpu(context, value, indices, axis, context.output(0));
}

Result<Shape> ResourceGatherNd::InferShape(const Handle& resource, const Shape& indices) const {
  return GatherNd().InferShape(Settled(resource), indices);
}

void ResourceGatherNd::Gradient(Gradients& g) const { g.Set(0, ScatterBack(g, g.input(1))); }

Status ResourceGatherNd::ComputeCpu(CpuContext& context, const Tensor& resource,
                                    const Tensor& indices) const {
  TRY_ASSIGN(const Tensor value, ReadValue(context, resource, dtype));
  TRY_ASSIGN(const Shape shape, GatherNd().InferShape(value.shape(), indices.shape()));
  TRY(AllocateGathered(context, resource, value.dtype(), shape));
  return GatherNd().ComputeCpu(context, value, indices, context.output(0));
}

void RegisterResourceGather(Registrar& registrar) {
  registrar.AddAll<ResourceGather, ResourceGatherNd>();
}

}  // namespace penstock::ops
