#include "penstock/ops/nn/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/ops/nn/channels.h"

namespace penstock::ops {
namespace {

// The array's shape, with the channels that the vectors tell.
Result<Shape> ShapeOfNorm(const BatchNormSettings& settings, const Shape& x, const Shape& scale,
                          const Shape& offset, const Shape& mean, const Shape& variance) {
  const ChannelFormat format(settings.data_format);
  TRY(CheckVector(mean, "mean"));
  TRY(CheckVector(variance, "variance"));
  // In training, running averages are read only where they are carried on.
  if (settings.is_training && settings.exponential_avg_factor == 1.0f) {
    return format.Merge(x, "x", {&scale, &offset});
  }
  return format.Merge(x, "x", {&scale, &offset, &mean, &variance});
}

struct NormOutputs {
  Tensor& y;
  Tensor& batch_mean;
  Tensor& batch_variance;
  Tensor& saved_mean;
  Tensor& saved_variance;
};

void Fill(Tensor& tensor, float value) {
  std::fill_n(tensor.mutable_data<float>(), tensor.num_elements(), value);
}
void Copy(const Tensor& from, Tensor& to) {
  std::copy_n(from.data<float>(), to.num_elements(), to.mutable_data<float>());
}

// Normalises x, of floats, with the moments in `mean` and `variance`.
Status Apply(CpuContext& context, const BatchNormSettings& settings, const Tensor& x,
             const Tensor& scale, const Tensor& offset, const Tensor& mean, const Tensor& variance,
             Tensor& y) {
  const kernels::ChannelShape layout = ChannelFormat(settings.data_format).Layout(x.shape());
  TRY_ASSIGN(Tensor factors, context.Allocate(DType::kFloat, scale.shape()));
  float* factor = factors.mutable_data<float>();
  for (int64_t c = 0; c < layout.channels; ++c) {
    factor[c] = scale.data<float>()[c] / std::sqrt(variance.data<float>()[c] + settings.epsilon);
  }
  Tensor wide = y;
  if (y.dtype() != DType::kFloat) {
    TRY_ASSIGN(wide, context.Allocate(DType::kFloat, y.shape()));
  }
  kernels::BatchNormFunctions().apply(layout, x.data<float>(), mean.data<float>(), factor,
                                      offset.data<float>(), wide.mutable_data<float>(),
                                      context.parallel());
  if (y.dtype() != DType::kFloat) StoreFloats(context, wide, y);
  return OkStatus();
}

// The batch's moments, and the running averages.
Status Train(CpuContext& context, const BatchNormSettings& settings, const Tensor& x,
             const Tensor& mean, const Tensor& variance, NormOutputs& out) {
  const kernels::ChannelShape layout = ChannelFormat(settings.data_format).Layout(x.shape());
  TRY_ASSIGN(
      Tensor scratch,
      context.Allocate(DType::kFloat, Shape{kernels::BatchNormKernels::ScratchSize(layout)}));
  float* batch_mean = out.saved_mean.mutable_data<float>();
  float* batch_variance = out.saved_variance.mutable_data<float>();
  kernels::BatchNormFunctions().moments(layout, x.data<float>(), scratch.mutable_data<float>(),
                                        batch_mean, batch_variance, context.parallel());
  const auto count = static_cast<float>(layout.count());
  const float unbiased = count / std::max(count - 1.0f, 1.0f);
  const float part = settings.exponential_avg_factor;
  for (int64_t c = 0; c < layout.channels; ++c) {
    float& next_mean = out.batch_mean.mutable_data<float>()[c];
    float& next_variance = out.batch_variance.mutable_data<float>()[c];
    next_mean = batch_mean[c];
    next_variance = batch_variance[c] * unbiased;
    if (part == 1.0f) continue;
    next_mean = (1.0f - part) * mean.data<float>()[c] + part * next_mean;
    next_variance = (1.0f - part) * variance.data<float>()[c] + part * next_variance;
  }
  return OkStatus();
}

Status Compute(CpuContext& context, const BatchNormSettings& settings, const Tensor& x,
               const Tensor& scale, const Tensor& offset, const Tensor& mean,
               const Tensor& variance, NormOutputs out) {
  if (scale.dtype() != DType::kFloat) {
    return Unimplemented("batch normalisation has no CPU kernel for scales of {}", scale.dtype());
  }
  if (x.num_elements() == 0) {
    Fill(out.batch_mean, std::numeric_limits<float>::quiet_NaN());
    Fill(out.batch_variance, std::numeric_limits<float>::quiet_NaN());
    Fill(out.saved_mean, 0);
    Fill(out.saved_variance, 0);
    return OkStatus();
  }
  TRY_ASSIGN(const Tensor wide, AsFloat(context, x));
  if (settings.is_training) {
    TRY(Train(context, settings, wide, mean, variance, out));
  } else {
    Copy(mean, out.batch_mean);
    Copy(mean, out.saved_mean);
    Copy(variance, out.batch_variance);
    Copy(variance, out.saved_variance);
  }
  return Apply(context, settings, wide, scale, offset, out.saved_mean, out.saved_variance, out.y);
}

template <class NormOp>
void SetGradients(const NormOp& op, Gradients& g, std::string_view gradient, bool third) {
  std::vector<Expr> inputs = {g.dy(0), g.input(0), g.input(1)};
  for (int i = 0; i < 2; ++i) inputs.push_back(op.is_training ? g.output(3 + i) : g.input(3 + i));
  if (third) inputs.push_back(g.output(5));
  const Expr terms = g.scope().Add(
      gradient, inputs,
      {{"epsilon", op.epsilon}, {"data_format", op.data_format}, {"is_training", op.is_training}});
  if (!terms.valid()) return;
  for (int i = 0; i < 3; ++i) g.Set(i, terms.Output(i));
}

}  // namespace

template <FixedString Name, class X, class Float>
Result<std::array<Shape, 5>> BatchNorm<Name, X, Float>::InferShape(const Shape& x,
                                                                   const Shape& scale,
                                                                   const Shape& offset,
                                                                   const Shape& mean,
                                                                   const Shape& variance) const {
  TRY_ASSIGN(const Shape y, ShapeOfNorm(settings(), x, scale, offset, mean, variance));
  const Shape channels{y.dim(ChannelFormat(data_format).channel_axis)};
  return std::array<Shape, 5>{y, channels, channels, channels, channels};
}
template <FixedString Name, class X, class Float>
void BatchNorm<Name, X, Float>::Gradient(Gradients& g) const {
  SetGradients(*this, g, kName == "FusedBatchNorm" ? "FusedBatchNormGrad" : "FusedBatchNormGradV2",
               false);
}
template <FixedString Name, class X, class Float>
Status BatchNorm<Name, X, Float>::ComputeCpu(CpuContext& context, const Tensor& x,
                                             const Tensor& scale, const Tensor& offset,
                                             const Tensor& mean, const Tensor& variance, Tensor& y,
                                             Tensor& batch_mean, Tensor& batch_variance,
                                             Tensor& reserve_space_1,
                                             Tensor& reserve_space_2) const {
  return Compute(context, settings(), x, scale, offset, mean, variance,
                 {y, batch_mean, batch_variance, reserve_space_1, reserve_space_2});
}

Result<std::array<Shape, 6>> FusedBatchNormV3::InferShape(const Shape& x, const Shape& scale,
                                                          const Shape& offset, const Shape& mean,
                                                          const Shape& variance) const {
  TRY_ASSIGN(const Shape y, ShapeOfNorm(settings(), x, scale, offset, mean, variance));
  const Shape channels{y.dim(ChannelFormat(data_format).channel_axis)};
  return std::array<Shape, 6>{y, channels, channels, channels, channels, Shape()};
}
void FusedBatchNormV3::Gradient(Gradients& g) const {
  SetGradients(*this, g, "FusedBatchNormGradV3", true);
}
Status FusedBatchNormV3::ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& scale,
                                    const Tensor& offset, const Tensor& mean,
                                    const Tensor& variance, Tensor& y, Tensor& batch_mean,
                                    Tensor& batch_variance, Tensor& reserve_space_1,
                                    Tensor& reserve_space_2, Tensor& reserve_space_3) const {
  TRY(Compute(context, settings(), x, scale, offset, mean, variance,
              {y, batch_mean, batch_variance, reserve_space_1, reserve_space_2}));
  Fill(reserve_space_3, 0);
  return OkStatus();
}

void RegisterBatchNorm(Registrar& registrar) {
  registrar.AddAll<FusedBatchNorm, FusedBatchNormV2, FusedBatchNormV3>();
}

}  // namespace penstock::ops
