#pragma once

#include <cstdint>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Local response normalisation: each channel is divided by
//   (bias + alpha * sum of squares of the channels at most depth_radius away) ^ beta.

namespace penstock::ops {

struct LRN {
  static constexpr auto kName = "LRN";
  static constexpr double kCost = 40;
  int64_t depth_radius = 5;
  float bias = 1;
  float alpha = 1;
  float beta = 0.5f;
  using Num = TypeVarOr<"T", float, half, bfloat16, float>;
  using Sig = Signature<In<"input", Num>, Out<"output", Num>>;
  static constexpr std::tuple kAttrs{Field{"depth_radius", &LRN::depth_radius},
                                     Field{"bias", &LRN::bias}, Field{"alpha", &LRN::alpha},
                                     Field{"beta", &LRN::beta}};

  Result<Shape> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

struct LRNGrad {
  static constexpr auto kName = "LRNGrad";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 60;
  int64_t depth_radius = 5;
  float bias = 1;
  float alpha = 1;
  float beta = 0.5f;
  using Num = LRN::Num;
  using Sig = Signature<In<"input_grads", Num>, In<"input_image", Num>, In<"output_image", Num>,
                        Out<"output", Num>>;
  static constexpr std::tuple kAttrs{Field{"depth_radius", &LRNGrad::depth_radius},
                                     Field{"bias", &LRNGrad::bias}, Field{"alpha", &LRNGrad::alpha},
                                     Field{"beta", &LRNGrad::beta}};

  Result<Shape> InferShape(const Shape& input_grads, const Shape& input_image,
                           const Shape& output_image) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& input_grads, const Tensor& input_image,
                    const Tensor& output_image, Tensor& output) const;
};

}  // namespace penstock::ops
