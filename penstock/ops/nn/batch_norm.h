#pragma once

#include <array>
#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Batch normalisation: y = (x - mean) / sqrt(variance + epsilon) * scale + offset for each channel.
// In training mean and variance are those of the batch; the outputs batch_mean and batch_variance
// then carry the running averages on, the variance as an unbiased estimate (divided by count - 1),
// and the reserve spaces what the derivative needs: the batch's own mean and biased variance.
// Versions: of V2 and V3 x may be 16-bit; V3 also takes arrays with three axes and has a third
// reserve space, which holds nothing here.

namespace penstock::ops {

// The attributes that all versions have.
struct BatchNormSettings {
  float epsilon;
  float exponential_avg_factor;
  std::string_view data_format;
  bool is_training;
};

template <FixedString Name, class X, class Float>
struct BatchNorm {
  static constexpr auto kName = Name.view();
  static constexpr double kCost = 4;
  float epsilon = 0.0001f;
  float exponential_avg_factor = 1;
  std::string data_format = "NHWC";
  bool is_training = true;
  using Sig = Signature<In<"x", X>, In<"scale", Float>, In<"offset", Float>, In<"mean", Float>,
                        In<"variance", Float>, Out<"y", X>, Out<"batch_mean", Float>,
                        Out<"batch_variance", Float>, Out<"reserve_space_1", Float>,
                        Out<"reserve_space_2", Float>>;
  static constexpr std::tuple kAttrs{
      Field{"epsilon", &BatchNorm::epsilon},
      Field{"exponential_avg_factor", &BatchNorm::exponential_avg_factor},
      Field{"data_format", &BatchNorm::data_format}.OneOf("NHWC|NCHW"),
      Field{"is_training", &BatchNorm::is_training}};

  BatchNormSettings settings() const {
    return {epsilon, exponential_avg_factor, data_format, is_training};
  }
  Result<std::array<Shape, 5>> InferShape(const Shape& x, const Shape& scale, const Shape& offset,
                                          const Shape& mean, const Shape& variance) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& scale, const Tensor& offset,
                    const Tensor& mean, const Tensor& variance, Tensor& y, Tensor& batch_mean,
                    Tensor& batch_variance, Tensor& reserve_space_1, Tensor& reserve_space_2) const;
};
using FusedBatchNorm = BatchNorm<"FusedBatchNorm", TypeVar<"T", float>, TypeVar<"T", float>>;
using FusedBatchNormV2 =
    BatchNorm<"FusedBatchNormV2", TypeVar<"T", half, bfloat16, float>, TypeVar<"U", float>>;

struct FusedBatchNormV3 {
  static constexpr auto kName = "FusedBatchNormV3";
  static constexpr double kCost = 4;
  float epsilon = 0.0001f;
  float exponential_avg_factor = 1;
  std::string data_format = "NHWC";
  bool is_training = true;
  using X = TypeVar<"T", half, bfloat16, float>;
  using Float = TypeVar<"U", bfloat16, float>;
  using Sig = Signature<In<"x", X>, In<"scale", Float>, In<"offset", Float>, In<"mean", Float>,
                        In<"variance", Float>, Out<"y", X>, Out<"batch_mean", Float>,
                        Out<"batch_variance", Float>, Out<"reserve_space_1", Float>,
                        Out<"reserve_space_2", Float>, Out<"reserve_space_3", Float>>;
  static constexpr std::tuple kAttrs{
      Field{"epsilon", &FusedBatchNormV3::epsilon},
      Field{"exponential_avg_factor", &FusedBatchNormV3::exponential_avg_factor},
      Field{"data_format", &FusedBatchNormV3::data_format}.OneOf("NHWC|NCHW|NDHWC|NCDHW"),
      Field{"is_training", &FusedBatchNormV3::is_training}};

  BatchNormSettings settings() const {
    return {epsilon, exponential_avg_factor, data_format, is_training};
  }
  Result<std::array<Shape, 6>> InferShape(const Shape& x, const Shape& scale, const Shape& offset,
                                          const Shape& mean, const Shape& variance) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& scale, const Tensor& offset,
                    const Tensor& mean, const Tensor& variance, Tensor& y, Tensor& batch_mean,
                    Tensor& batch_variance, Tensor& reserve_space_1, Tensor& reserve_space_2,
                    Tensor& reserve_space_3) const;
};

}  // namespace penstock::ops
