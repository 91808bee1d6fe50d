#include "penstock/ops/nn/lrn.h"

#include <algorithm>
#include <cmath>

namespace penstock::ops {
namespace {

// Sums f(k) over the channels k at most `radius` away from `channel`.
template <class F>
float SumAround(int64_t channel, int64_t radius, int64_t channels, F f) {
  const int64_t begin = std::max<int64_t>(channel - radius, 0);
  const int64_t end = std::min(channel + radius + 1, channels);
  float sum = 0;
  for (int64_t k = begin; k < end; ++k) sum += f(k);
  return sum;
}

template <class T>
float Norm(const T* x, int64_t channel, int64_t radius, int64_t channels, float bias, float alpha) {
  const auto square = [x](int64_t k) {
    return static_cast<float>(x[k]) * static_cast<float>(x[k]);
  };
  return bias + alpha * SumAround(channel, radius, channels, square);
}

// x ^ -beta, for the usual betas without a logarithm.
float Shrink(float x, float beta) {
  if (beta == 0.5f) return 1 / std::sqrt(x);
  if (beta == 0.75f) return 1 / (std::sqrt(x) * std::sqrt(std::sqrt(x)));
  return std::pow(x, -beta);
}

Status CheckRadius(int64_t depth_radius) {
  if (InRange(depth_radius, int64_t{1} << 31)) return OkStatus();
  return InvalidArgument("depth_radius must be in [0, 2^31), got {}", depth_radius);
}

// Calls body(first element) for each place.
template <class F>
void ForEachPlace(CpuContext& context, const Tensor& image, int64_t radius, F body) {
  const int64_t channels = image.shape().dim(3);
  if (image.num_elements() == 0) return;
  const double cost = static_cast<double>(channels) *
                      (20.0 + 4.0 * static_cast<double>(std::min(radius, channels)));
  context.parallel()(image.num_elements() / channels, cost, [&](int64_t begin, int64_t end) {
    for (int64_t place = begin; place < end; ++place) body(place * channels);
  });
}

}  // namespace

Result<Shape> LRN::InferShape(const Shape& input) const {
  TRY(CheckRadius(depth_radius));
  TRY(CheckRank(input, 4, "input"));
  return input.has_rank() ? input : Shape::UnknownOfRank(4);
}

void LRN::Gradient(Gradients& g) const {
  g.Set(0, Op("LRNGrad", g.dy(), g.input(0), g.output(0),
              {{"depth_radius", depth_radius}, {"bias", bias}, {"alpha", alpha}, {"beta", beta}}));
}

template <class T>
Status LRN::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const {
  const int64_t channels = input.shape().dim(3);
  ForEachPlace(context, input, depth_radius, [&](int64_t first) {
    const T* x = input.data<T>() + first;
    T* y = output.mutable_data<T>() + first;
    for (int64_t c = 0; c < channels; ++c) {
      const float norm = Norm(x, c, depth_radius, channels, bias, alpha);
      y[c] = static_cast<T>(static_cast<float>(x[c]) * Shrink(norm, beta));
    }
  });
  return OkStatus();
}

Result<Shape> LRNGrad::InferShape(const Shape& input_grads, const Shape& input_image,
                                  const Shape& output_image) const {
  TRY(CheckRadius(depth_radius));
  TRY(CheckRank(input_grads, 4, "input_grads"));
  TRY_ASSIGN(Shape merged, MergeShapes(input_grads, input_image));
  TRY_ASSIGN(merged, MergeShapes(merged, output_image));
  return merged.has_rank() ? merged : Shape::UnknownOfRank(4);
}

// With y = x norm^-beta, norm' = 2 alpha x:
//   dx[k] = dy[k] norm[k]^-beta - 2 alpha beta x[k] * sum of dy[c] y[c] / norm[c] around k.
template <class T>
Status LRNGrad::ComputeCpu(CpuContext& context, const Tensor& input_grads,
                           const Tensor& input_image, const Tensor& output_image,
                           Tensor& output) const {
  TRY_ASSIGN(Tensor norms, context.Allocate(DType::kFloat, input_image.shape()));
  const int64_t channels = input_image.shape().dim(3);
  ForEachPlace(context, input_image, 2 * depth_radius, [&](int64_t first) {
    const T* dy = input_grads.data<T>() + first;
    const T* x = input_image.data<T>() + first;
    const T* y = output_image.data<T>() + first;
    T* dx = output.mutable_data<T>() + first;
    float* norm = norms.mutable_data<float>() + first;
    for (int64_t c = 0; c < channels; ++c)
      norm[c] = Norm(x, c, depth_radius, channels, bias, alpha);
    const auto pull = [&](int64_t c) {
      return static_cast<float>(dy[c]) * static_cast<float>(y[c]) / norm[c];
    };
    for (int64_t c = 0; c < channels; ++c) {
      const float pulled = SumAround(c, depth_radius, channels, pull);
      dx[c] = static_cast<T>(static_cast<float>(dy[c]) * Shrink(norm[c], beta) -
                             2 * alpha * beta * static_cast<float>(x[c]) * pulled);
    }
  });
  return OkStatus();
}

void RegisterLrn(Registrar& registrar) { registrar.AddAll<LRN, LRNGrad>(); }

}  // namespace penstock::ops
