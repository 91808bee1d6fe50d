#include "penstock/ops/nn/pool.h"

#include <algorithm>

#include "penstock/kernels/reduce.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/gradient_terms.h"

namespace penstock::ops {
namespace {

Result<Shape> ShapeOfPool(const PoolWindow& window, const Shape& input, bool may_pool_channels) {
  TRY(window.Check(may_pool_channels));
  return window.OutputShape(input);
}

// The largest of each group of neighbouring channels.
Status PoolChannels(CpuContext& context, const Tensor& input, Tensor& output) {
  const int64_t group = input.num_elements() / output.num_elements();
  const int64_t dims[] = {output.num_elements(), group};
  const bool reduced[] = {false, true};
  const kernels::ReduceShape layout(dims, reduced, 2);
  return ForDType(input.dtype(), PlainRealNumbers(), [&]<class T>() {
    kernels::Reduce<T>(kernels::ReduceKind::kMax, input.data<T>(), layout, output.mutable_data<T>(),
                       context.parallel());
    return OkStatus();
  });
}

Status PoolMax(CpuContext& context, const PoolWindow& window, const Tensor& input, Tensor& output) {
  if (output.num_elements() == 0) return OkStatus();
  if (window.over_channels()) return PoolChannels(context, input, output);
  TRY_ASSIGN(const kernels::PoolShape layout, window.Layout(input.shape()));
  const kernels::PoolKernels kernels = kernels::PoolKernelsOf(input.dtype());
  if (kernels.max == nullptr)
    return Unimplemented("MaxPool has no CPU kernel for {}", input.dtype());
  kernels.max(layout, input.raw(), output.mutable_raw(), context.parallel());
  return OkStatus();
}

// The windows of V2 ops as far as they are known; unknown ones give an array of unknown extents.
Result<Shape> ShapeOfPoolV2(const Shape& input, const Integers& ksize, const Integers& strides,
                            std::string_view padding, std::string_view data_format) {
  TRY(CheckRank(input, 4, "input"));
  TRY(CheckVector(ksize.shape(), "ksize"));
  TRY(CheckVector(strides.shape(), "strides"));
  if (!ksize.known() || !strides.known()) return Shape::UnknownOfRank(4);
  return ShapeOfPool({2, ksize.values(), strides.values(), padding, {}, data_format}, input, true);
}

}  // namespace

Result<Shape> MaxPool::InferShape(const Shape& input) const {
  return ShapeOfPool(window(), input, true);
}
void MaxPool::Gradient(Gradients& g) const {
  g.Set(0, Op("MaxPoolGrad", g.input(0), g.output(0), g.dy(),
              {{"ksize", ksize},
               {"strides", strides},
               {"padding", padding},
               {"explicit_paddings", explicit_paddings},
               {"data_format", data_format}}));
}
Status MaxPool::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const {
  return PoolMax(context, window(), input, output);
}

Result<Shape> MaxPoolV2::InferShape(const Shape& input, const Integers& ksize,
                                    const Integers& strides) const {
  return ShapeOfPoolV2(input, ksize, strides, padding, data_format);
}
void MaxPoolV2::Gradient(Gradients& g) const {
  g.Set(0, g.scope().Add("MaxPoolGradV2", {g.input(0), g.output(0), g.dy(), g.input(1), g.input(2)},
                         {{"padding", padding}, {"data_format", data_format}}));
}
Status MaxPoolV2::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& ksize,
                             const Integers& strides, Tensor& output) const {
  return PoolMax(context, {2, ksize.values(), strides.values(), padding, {}, data_format}, input,
                 output);
}

Result<Shape> MaxPool3D::InferShape(const Shape& input) const {
  return ShapeOfPool(window(), input, false);
}
void MaxPool3D::Gradient(Gradients& g) const {
  g.Set(0, Op("MaxPool3DGrad", g.input(0), g.output(0), g.dy(),
              {{"ksize", ksize},
               {"strides", strides},
               {"padding", padding},
               {"data_format", data_format}}));
}
Status MaxPool3D::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const {
  return PoolMax(context, window(), input, output);
}

template <FixedString Name, FixedString Input, int spatial>
Result<Shape> MeanPool<Name, Input, spatial>::InferShape(const Shape& value) const {
  return ShapeOfPool(window(), value, false);
}
template <FixedString Name, FixedString Input, int spatial>
void MeanPool<Name, Input, spatial>::Gradient(Gradients& g) const {
  g.Set(0, Op(spatial == 2 ? "AvgPoolGrad" : "AvgPool3DGrad", ShapeOf(g.input(0)), g.dy(),
              {{"ksize", ksize},
               {"strides", strides},
               {"padding", padding},
               {"data_format", data_format}}));
}
template <FixedString Name, FixedString Input, int spatial>
Status MeanPool<Name, Input, spatial>::ComputeCpu(CpuContext& context, const Tensor& value,
                                                  Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  TRY_ASSIGN(const kernels::PoolShape layout, window().Layout(value.shape()));
  kernels::PoolKernelsOf(value.dtype())
      .mean(layout, value.raw(), output.mutable_raw(), context.parallel());
  return OkStatus();
}

void RegisterPool(Registrar& registrar) {
  registrar.AddAll<MaxPool, MaxPoolV2, MaxPool3D, AvgPool, AvgPool3D>();
}

}  // namespace penstock::ops
