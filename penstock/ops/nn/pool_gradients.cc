#include "penstock/ops/nn/pool_gradients.h"

#include <cstring>

#include "penstock/ops/gradient_terms.h"

namespace penstock::ops {
namespace {

// The shape of a derivative by the input: that of the input, if the rest fits to it.
Result<Shape> ShapeOfGrad(const PoolWindow& window, const Shape& input, const Shape& output,
                          const Shape& grad) {
  TRY(window.Check());
  TRY_ASSIGN(const Shape pooled, window.OutputShape(input));
  TRY(CheckPooled(pooled, output, "orig_output"));
  TRY(CheckPooled(pooled, grad, "grad"));
  return input.has_rank() ? input : Shape::UnknownOfRank(window.spatial + 2);
}

// The same of a second derivative, which has the shape of the output.
Result<Shape> ShapeOfSecond(const PoolWindow& window, const Shape& input, const Shape& output,
                            const Shape& grad) {
  TRY(window.Check());
  TRY_ASSIGN(const Shape pooled, window.OutputShape(input));
  TRY(CheckPooled(pooled, output, "orig_output"));
  TRY(CheckPooled(input, grad, "grad"));
  return MergeShapes(pooled, output);
}

void SetZero(Tensor& tensor) { std::memset(tensor.mutable_raw(), 0, tensor.bytes()); }

Status SpreadToFirst(CpuContext& context, const PoolWindow& window, const Tensor& input,
                     const Tensor& grad, Tensor& output) {
  if (output.num_elements() == 0) return OkStatus();
  if (grad.num_elements() == 0) return SetZero(output), OkStatus();
  TRY_ASSIGN(const kernels::PoolShape layout, window.Layout(input.shape()));
  const kernels::PoolKernels kernels = kernels::PoolKernelsOf(input.dtype());
  TRY_ASSIGN(Tensor places, context.Allocate(DType::kInt32, grad.shape()));
  kernels.max_gradient(layout, input.raw(), grad.raw(), places.mutable_data<int32_t>(),
                       output.mutable_raw(), context.parallel());
  return OkStatus();
}

Status PickFirst(CpuContext& context, const PoolWindow& window, const Tensor& input,
                 const Tensor& pooled, const Tensor& grad, Tensor& output) {
  if (output.num_elements() == 0) return OkStatus();
  TRY_ASSIGN(const kernels::PoolShape layout, window.Layout(input.shape()));
  kernels::PoolKernelsOf(input.dtype())
      .pick(layout, input.raw(), pooled.raw(), grad.raw(), output.mutable_raw(),
            context.parallel());
  return OkStatus();
}

// What the largest are does not move with their values.
void SetZeros(Gradients& g) {
  g.Set(0, Op("ZerosLike", g.input(0)));
  g.Set(1, Op("ZerosLike", g.input(1)));
}

template <class PoolOp>
AttrMap AttrsOf(const PoolOp& op) {
  return {{"ksize", op.ksize},
          {"strides", op.strides},
          {"padding", op.padding},
          {"data_format", op.data_format}};
}

}  // namespace

Result<Shape> MaxPoolGrad::InferShape(const Shape& orig_input, const Shape& orig_output,
                                      const Shape& grad) const {
  return ShapeOfGrad(window(), orig_input, orig_output, grad);
}
void MaxPoolGrad::Gradient(Gradients& g) const {
  SetZeros(g);
  g.Set(2, Op("MaxPoolGradGrad", g.input(0), g.input(1), g.dy(), AttrsOf(*this)));
}
Status MaxPoolGrad::ComputeCpu(CpuContext& context, const Tensor& orig_input, const Tensor&,
                               const Tensor& grad, Tensor& output) const {
  return SpreadToFirst(context, window(), orig_input, grad, output);
}

Result<Shape> MaxPool3DGrad::InferShape(const Shape& orig_input, const Shape& orig_output,
                                        const Shape& grad) const {
  return ShapeOfGrad(window(), orig_input, orig_output, grad);
}
void MaxPool3DGrad::Gradient(Gradients& g) const {
  SetZeros(g);
  g.Set(2, Op("MaxPool3DGradGrad", g.input(0), g.input(1), g.dy(), AttrsOf(*this)));
}
Status MaxPool3DGrad::ComputeCpu(CpuContext& context, const Tensor& orig_input,
                                 const Tensor& orig_output, const Tensor& grad,
                                 Tensor& output) const {
  if (orig_input.dtype() != grad.dtype()) {
    return Unimplemented("{} has no CPU kernel for TInput {} and T {}", kName, orig_input.dtype(),
                         grad.dtype());
  }
  if (output.num_elements() == 0) return OkStatus();
  if (grad.num_elements() == 0) return SetZero(output), OkStatus();
  TRY_ASSIGN(const kernels::PoolShape layout, window().Layout(orig_input.shape()));
  kernels::PoolKernelsOf(grad.dtype())
      .equal_gradient(layout, orig_input.raw(), orig_output.raw(), grad.raw(), output.mutable_raw(),
                      context.parallel());
  return OkStatus();
}

template <FixedString Name, int spatial>
Result<Shape> MaxPoolSecond<Name, spatial>::InferShape(const Shape& orig_input,
                                                       const Shape& orig_output,
                                                       const Shape& grad) const {
  return ShapeOfSecond(window(), orig_input, orig_output, grad);
}
template <FixedString Name, int spatial>
void MaxPoolSecond<Name, spatial>::Gradient(Gradients& g) const {
  SetZeros(g);
  g.Set(2, Op(spatial == 2 ? "MaxPoolGrad" : "MaxPool3DGrad", g.input(0), g.input(1), g.dy(),
              AttrsOf(*this)));
}
template <FixedString Name, int spatial>
Status MaxPoolSecond<Name, spatial>::ComputeCpu(CpuContext& context, const Tensor& orig_input,
                                                const Tensor& orig_output, const Tensor& grad,
                                                Tensor& output) const {
  return PickFirst(context, window(), orig_input, orig_output, grad, output);
}

template <FixedString Name, class T, bool second>
Result<Shape> MaxPoolDerivativeV2<Name, T, second>::InferShape(const Shape& orig_input,
                                                               const Shape& orig_output,
                                                               const Shape& grad,
                                                               const Integers& ksize,
                                                               const Integers& strides) const {
  TRY(CheckRank(orig_input, 4, "orig_input"));
  TRY(CheckVector(ksize.shape(), "ksize"));
  TRY(CheckVector(strides.shape(), "strides"));
  if (!ksize.known() || !strides.known()) return Shape::UnknownOfRank(4);
  const PoolWindow known = window(ksize, strides);
  return second ? ShapeOfSecond(known, orig_input, orig_output, grad)
                : ShapeOfGrad(known, orig_input, orig_output, grad);
}
template <FixedString Name, class T, bool second>
void MaxPoolDerivativeV2<Name, T, second>::Gradient(Gradients& g) const {
  SetZeros(g);
  g.Set(2, g.scope().Add(second ? "MaxPoolGradV2" : "MaxPoolGradGradV2",
                         {g.input(0), g.input(1), g.dy(), g.input(3), g.input(4)},
                         {{"padding", padding}, {"data_format", data_format}}));
}
template <FixedString Name, class T, bool second>
Status MaxPoolDerivativeV2<Name, T, second>::ComputeCpu(
    CpuContext& context, const Tensor& orig_input, const Tensor& orig_output, const Tensor& grad,
    const Integers& ksize, const Integers& strides, Tensor& output) const {
  const PoolWindow known = window(ksize, strides);
  return second ? PickFirst(context, known, orig_input, orig_output, grad, output)
                : SpreadToFirst(context, known, orig_input, grad, output);
}

template <FixedString Name, int spatial>
Result<Shape> MeanPoolGrad<Name, spatial>::InferShape(const Integers& orig_input_shape,
                                                      const Shape& grad) const {
  TRY(window().Check());
  TRY(CheckVector(orig_input_shape.shape(), "orig_input_shape"));
  TRY(CheckRank(grad, spatial + 2, "grad"));
  TRY_ASSIGN(Shape input, orig_input_shape.AsShape());
  if (!input.has_rank()) return Shape::UnknownOfRank(spatial + 2);
  TRY_ASSIGN(const Shape pooled, window().OutputShape(input));
  TRY(CheckPooled(pooled, grad, "grad"));
  return input;
}
template <FixedString Name, int spatial>
void MeanPoolGrad<Name, spatial>::Gradient(Gradients& g) const {
  g.Set(1, Op(spatial == 2 ? "AvgPool" : "AvgPool3D", g.dy(), AttrsOf(*this)));
}
template <FixedString Name, int spatial>
Status MeanPoolGrad<Name, spatial>::ComputeCpu(CpuContext& context, const Integers&,
                                               const Tensor& grad, Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  if (grad.num_elements() == 0) return SetZero(output), OkStatus();
  TRY_ASSIGN(const kernels::PoolShape layout, window().Layout(output.shape()));
  kernels::PoolKernelsOf(grad.dtype())
      .mean_gradient(layout, grad.raw(), output.mutable_raw(), context.parallel());
  return OkStatus();
}

void RegisterPoolGradients(Registrar& registrar) {
  registrar.AddAll<MaxPoolGrad, MaxPool3DGrad, MaxPoolGradGrad, MaxPool3DGradGrad, MaxPoolGradV2,
                   MaxPoolGradGradV2, AvgPoolGrad, AvgPool3DGrad>();
}

}  // namespace penstock::ops
