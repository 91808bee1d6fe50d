#pragma once

#include <array>
#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// The derivatives of batch normalisation. In training reserve_space_1 and _2 are the mean and the
// biased variance of the batch, else those that the normalisation was given. The last two outputs
// hold nothing.

namespace penstock::ops {

template <FixedString Name, class X, class Scale, class Float>
struct BatchNormGrad {
  static constexpr auto kName = Name.view();
  static constexpr double kCost = 6;
  float epsilon = 0.0001f;
  std::string data_format = "NHWC";
  bool is_training = true;
  using Sig =
      Signature<In<"y_backprop", X>, In<"x", X>, In<"scale", Scale>, In<"reserve_space_1", Float>,
                In<"reserve_space_2", Float>, Out<"x_backprop", X>, Out<"scale_backprop", Float>,
                Out<"offset_backprop", Float>, Out<"reserve_space_3", Float>,
                Out<"reserve_space_4", Float>>;
  static constexpr std::tuple kAttrs{
      Field{"epsilon", &BatchNormGrad::epsilon},
      Field{"data_format", &BatchNormGrad::data_format}.OneOf("NHWC|NCHW"),
      Field{"is_training", &BatchNormGrad::is_training}};

  Result<std::array<Shape, 5>> InferShape(const Shape& y_backprop, const Shape& x,
                                          const Shape& scale, const Shape& reserve_space_1,
                                          const Shape& reserve_space_2) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& y_backprop, const Tensor& x,
                    const Tensor& scale, const Tensor& reserve_space_1,
                    const Tensor& reserve_space_2, Tensor& x_backprop, Tensor& scale_backprop,
                    Tensor& offset_backprop, Tensor& reserve_space_3,
                    Tensor& reserve_space_4) const;
};
using FusedBatchNormGrad = BatchNormGrad<"FusedBatchNormGrad", TypeVar<"T", float>,
                                         TypeVar<"T", float>, TypeVar<"T", float>>;
using FusedBatchNormGradV2 =
    BatchNormGrad<"FusedBatchNormGradV2", TypeVar<"T", half, bfloat16, float>, float,
                  TypeVar<"U", float>>;

struct FusedBatchNormGradV3 {
  static constexpr auto kName = "FusedBatchNormGradV3";
  static constexpr double kCost = 6;
  float epsilon = 0.0001f;
  std::string data_format = "NHWC";
  bool is_training = true;
  using X = TypeVar<"T", half, bfloat16, float>;
  using Float = TypeVar<"U", float>;
  using Sig =
      Signature<In<"y_backprop", X>, In<"x", X>, In<"scale", float>, In<"reserve_space_1", Float>,
                In<"reserve_space_2", Float>, In<"reserve_space_3", Float>, Out<"x_backprop", X>,
                Out<"scale_backprop", Float>, Out<"offset_backprop", Float>,
                Out<"reserve_space_4", Float>, Out<"reserve_space_5", Float>>;
  static constexpr std::tuple kAttrs{
      Field{"epsilon", &FusedBatchNormGradV3::epsilon},
      Field{"data_format", &FusedBatchNormGradV3::data_format}.OneOf("NHWC|NCHW|NDHWC|NCDHW"),
      Field{"is_training", &FusedBatchNormGradV3::is_training}};

  Result<std::array<Shape, 5>> InferShape(const Shape& y_backprop, const Shape& x,
                                          const Shape& scale, const Shape& reserve_space_1,
                                          const Shape& reserve_space_2,
                                          const Shape& reserve_space_3) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& y_backprop, const Tensor& x,
                    const Tensor& scale, const Tensor& reserve_space_1,
                    const Tensor& reserve_space_2, const Tensor& reserve_space_3,
                    Tensor& x_backprop, Tensor& scale_backprop, Tensor& offset_backprop,
                    Tensor& reserve_space_4, Tensor& reserve_space_5) const;
};

}  // namespace penstock::ops
