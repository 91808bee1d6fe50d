#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"

namespace penstock::ops {

// Normalises each row (the last axis) by its own mean and variance. Made by the compiler of the
// nodes that programs write for it.
struct FusedLayerNorm {
  static constexpr auto kName = "_FusedLayerNorm";
  static constexpr bool kNoGradient = true;
  static constexpr bool kInPlace = true;
  static constexpr double kCost = 3;
  float epsilon = 0;
  using Sig = Signature<In<"x", float>, In<"gamma", float>, In<"beta", float>, Out<"y", float>>;
  static constexpr std::tuple kAttrs{Field{"epsilon", &FusedLayerNorm::epsilon}};

  Result<Shape> InferShape(const Shape& x, const Shape& gamma, const Shape& beta) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& gamma, const Tensor& beta,
                    Tensor& y) const;
};

}  // namespace penstock::ops
