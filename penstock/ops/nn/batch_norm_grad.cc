#include "penstock/ops/nn/batch_norm_grad.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/nn/channels.h"

namespace penstock::ops {
namespace {

Result<std::array<Shape, 5>> ShapesOfGrad(std::string_view data_format, const Shape& y_backprop,
                                          const Shape& x, const Shape& scale, const Shape& mean,
                                          const Shape& variance) {
  const ChannelFormat format(data_format);
  TRY_ASSIGN(Shape dx, MergeShapes(y_backprop, x));
  TRY_ASSIGN(dx, format.Merge(dx, "x", {&scale, &mean, &variance}));
  const Shape channels{dx.dim(format.channel_axis)};
  return std::array<Shape, 5>{dx, channels, channels, Shape{0}, Shape{0}};
}

struct GradSettings {
  float epsilon;
  std::string_view data_format;
  bool is_training;
};

// With r = 1 / sqrt(variance + epsilon) and means over the channel's elements:
//   dx = scale r (dy - mean(dy) - (x - m) r^2 mean(dy (x - m)))      in training, else scale r dy
//   dscale = r sum(dy (x - m)),  doffset = sum(dy)
Status Compute(CpuContext& context, const GradSettings& settings, const Tensor& y_backprop,
               const Tensor& x, const Tensor& scale, const Tensor& mean, const Tensor& variance,
               Tensor& x_backprop, Tensor& scale_backprop, Tensor& offset_backprop) {
  float* dscale = scale_backprop.mutable_data<float>();
  float* doffset = offset_backprop.mutable_data<float>();
  if (x.num_elements() == 0) {
    std::fill_n(dscale, scale_backprop.num_elements(), 0.0f);
    std::fill_n(doffset, offset_backprop.num_elements(), 0.0f);
    return OkStatus();
  }
  const kernels::ChannelShape layout = ChannelFormat(settings.data_format).Layout(x.shape());
  const kernels::BatchNormKernels kernels = kernels::BatchNormFunctions();
  const int64_t channels = layout.channels;
  TRY_ASSIGN(const Tensor dy, AsFloat(context, y_backprop));
  TRY_ASSIGN(const Tensor wide_x, AsFloat(context, x));
  Tensor dx = x_backprop;
  const bool narrow = x_backprop.dtype() != DType::kFloat;
  if (narrow) {
    TRY_ASSIGN(dx, context.Allocate(DType::kFloat, x.shape()));
  }
  TRY_ASSIGN(
      Tensor scratch,
      context.Allocate(DType::kFloat, Shape{kernels::BatchNormKernels::ScratchSize(layout)}));
  TRY_ASSIGN(Tensor terms, context.Allocate(DType::kFloat, Shape{4, channels}));
  float* factor = terms.mutable_data<float>();
  float *shift = factor + channels, *slope = shift + channels, *zeros = slope + channels;

  kernels.gradient_sums(layout, dy.data<float>(), wide_x.data<float>(), mean.data<float>(),
                        scratch.mutable_data<float>(), doffset, dscale, context.parallel());
  const float share = 1.0f / static_cast<float>(layout.count());
  for (int64_t c = 0; c < channels; ++c) {
    const float r = 1.0f / std::sqrt(variance.data<float>()[c] + settings.epsilon);
    factor[c] = scale.data<float>()[c] * r;
    shift[c] = doffset[c] * share;
    slope[c] = dscale[c] * share * r * r;
    zeros[c] = 0;
    dscale[c] *= r;
  }
  if (settings.is_training) {
    kernels.gradient(layout, dy.data<float>(), wide_x.data<float>(), mean.data<float>(), factor,
                     shift, slope, dx.mutable_data<float>(), context.parallel());
  } else {
    kernels.apply(layout, dy.data<float>(), zeros, factor, zeros, dx.mutable_data<float>(),
                  context.parallel());
  }
  if (narrow) StoreFloats(context, dx, x_backprop);
  return OkStatus();
}

// The derivative of the derivative, written out: with u = x - m, G, gs and go what arrives at the
// three outputs, sums S and means M over a channel, P = S(dy u), Q = S(G u), A = S(G dy) - S(G)
// M(dy), what is differentiated is
//   L = scale r (A - r^2 P Q / n) + gs r P + go S(dy).
class SecondOrder {
 public:
  SecondOrder(Gradients& g, const GradSettings& settings)
      : g_(g), scope_(g.scope()), settings_(settings), format_(settings.data_format) {}

  void Set() {
    const DType dtype = g_.input(0).dtype();
    const Expr dy = Wide(g_.input(0)), x = Wide(g_.input(1)), scale = Spread(g_.input(2));
    const Expr G = Wide(g_.dy(0)), gs = Spread(g_.dy(1)), go = Spread(g_.dy(2));
    const Expr mean = settings_.is_training ? Mean(x) : Spread(g_.input(3));
    const Expr u = x - mean;
    const Expr variance = settings_.is_training ? Mean(u * u) : Spread(g_.input(4));
    const Expr r = Op("Rsqrt", variance + settings_.epsilon);
    if (!settings_.is_training) {
      g_.Set(0, As(dtype, G * (scale * r) + (gs * r) * u + go));
      g_.Set(1, As(dtype, gs * r * dy));
      g_.Set(2, Vector(r * Sum(G * dy)));
      return;
    }
    const Expr n = Op("Cast", Op("Size", x), {{"DstT", DType::kFloat}}) /
                   Op("Cast", Op("Size", g_.input(2)), {{"DstT", DType::kFloat}});
    const Expr r2 = r * r;
    const Expr P = Sum(dy * u), Q = Sum(G * u);
    const Expr A = Sum(G * dy) - Sum(G) * Mean(dy);
    const Expr PQ = r2 * P * Q / n;
    const Expr pull = scale * r * r2 / n;
    const Expr h = (gs * r) * dy - pull * (Q * dy + P * G);
    const Expr by_r = scale * (A - 3.0 * PQ) + gs * P;
    g_.Set(0, As(dtype, scale * r * (G - Mean(G) - (r2 * Q / n) * u) + (gs * r) * u + go));
    g_.Set(1, As(dtype, h - Mean(h) - (by_r * r * r2 / n) * u));
    g_.Set(2, Vector(r * (A - PQ)));
  }

 private:
  Expr Wide(const Expr& x) const { return As(DType::kFloat, x); }
  static Expr As(DType dtype, const Expr& x) {
    return !x.valid() || x.dtype() == dtype ? x : Op("Cast", x, {{"DstT", dtype}});
  }
  Expr Reduce(std::string_view op, const Expr& x) const {
    std::vector<int32_t> axes;
    for (int i = 0; i < format_.rank; ++i) {
      if (i != format_.channel_axis) axes.push_back(i);
    }
    const Shape shape{static_cast<int64_t>(axes.size())};
    return Op(op, x, scope_.Constant(Tensor::FromValues<int32_t>(shape, axes)),
              {{"keep_dims", true}});
  }
  Expr Sum(const Expr& x) const { return Reduce("Sum", x); }
  Expr Mean(const Expr& x) const { return Reduce("Mean", x); }
  // A vector of the channels, laid along the array's axes.
  Expr Spread(const Expr& vector) const {
    std::vector<int32_t> dims(static_cast<size_t>(format_.rank), 1);
    dims[static_cast<size_t>(format_.channel_axis)] = -1;
    return Op("Reshape", vector,
              scope_.Constant(Tensor::FromValues<int32_t>(Shape{format_.rank}, dims)));
  }
  Expr Vector(const Expr& spread) const { return Op("Reshape", spread, IntVector(scope_, {-1})); }

  Gradients& g_;
  const Scope& scope_;
  const GradSettings settings_;
  const ChannelFormat format_;
};

}  // namespace

template <FixedString Name, class X, class Scale, class Float>
Result<std::array<Shape, 5>> BatchNormGrad<Name, X, Scale, Float>::InferShape(
    const Shape& y_backprop, const Shape& x, const Shape& scale, const Shape& reserve_space_1,
    const Shape& reserve_space_2) const {
  return ShapesOfGrad(data_format, y_backprop, x, scale, reserve_space_1, reserve_space_2);
}
template <FixedString Name, class X, class Scale, class Float>
void BatchNormGrad<Name, X, Scale, Float>::Gradient(Gradients& g) const {
  SecondOrder(g, {epsilon, data_format, is_training}).Set();
}
template <FixedString Name, class X, class Scale, class Float>
Status BatchNormGrad<Name, X, Scale, Float>::ComputeCpu(
    CpuContext& context, const Tensor& y_backprop, const Tensor& x, const Tensor& scale,
    const Tensor& reserve_space_1, const Tensor& reserve_space_2, Tensor& x_backprop,
    Tensor& scale_backprop, Tensor& offset_backprop, Tensor&, Tensor&) const {
  return Compute(context, {epsilon, data_format, is_training}, y_backprop, x, scale,
                 reserve_space_1, reserve_space_2, x_backprop, scale_backprop, offset_backprop);
}

Result<std::array<Shape, 5>> FusedBatchNormGradV3::InferShape(const Shape& y_backprop,
                                                              const Shape& x, const Shape& scale,
                                                              const Shape& reserve_space_1,
                                                              const Shape& reserve_space_2,
                                                              const Shape&) const {
  return ShapesOfGrad(data_format, y_backprop, x, scale, reserve_space_1, reserve_space_2);
}
void FusedBatchNormGradV3::Gradient(Gradients& g) const {
  SecondOrder(g, {epsilon, data_format, is_training}).Set();
}
Status FusedBatchNormGradV3::ComputeCpu(CpuContext& context, const Tensor& y_backprop,
                                        const Tensor& x, const Tensor& scale,
                                        const Tensor& reserve_space_1,
                                        const Tensor& reserve_space_2, const Tensor&,
                                        Tensor& x_backprop, Tensor& scale_backprop,
                                        Tensor& offset_backprop, Tensor&, Tensor&) const {
  return Compute(context, {epsilon, data_format, is_training}, y_backprop, x, scale,
                 reserve_space_1, reserve_space_2, x_backprop, scale_backprop, offset_backprop);
}

void RegisterBatchNormGrad(Registrar& registrar) {
  registrar.AddAll<FusedBatchNormGrad, FusedBatchNormGradV2, FusedBatchNormGradV3>();
}

}  // namespace penstock::ops
